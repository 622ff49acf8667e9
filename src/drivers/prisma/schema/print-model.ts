import type { AnyEntity, ColumnDefinition, OnDelete, Provider } from "../../../entity/index.ts";
import { defaultAttribute } from "./default-attribute.ts";
import type { RelationField } from "./relation-sides.ts";

/**
 * "restrict" is printed as NoAction: it looks at the end of the statement, so that rows which go together may refer to
 * each other. Restrict would look at each row on its own.
 */
const ON_DELETE: Readonly<Record<OnDelete, string>> = { cascade: "Cascade", setNull: "SetNull", restrict: "NoAction" };

function words(...parts: readonly (string | undefined)[]): string {
  return `  ${parts.filter((part) => part !== undefined && part !== "").join(" ")}`;
}

function printColumn(column: ColumnDefinition, isUnique: boolean, provider: Provider): string {
  const { scalar, native } = column.kind.column;
  const type = native?.[provider];
  return words(
    column.name,
    `${scalar}${column.optional ? "?" : ""}`,
    column.role === "id" ? "@id" : isUnique ? "@unique" : undefined,
    defaultAttribute(column, provider),
    type === undefined ? undefined : `@db.${type}`,
  );
}

function printRelation({ name, target, list, relationName, key }: RelationField): string {
  const named = relationName === undefined ? [] : [`name: "${relationName}"`];
  if (key === undefined) {
    const attribute = named.length === 0 ? undefined : `@relation(${named})`;
    return words(name, `${target}${list ? "[]" : "?"}`, attribute);
  }
  const parts = [...named, `fields: [${key.foreignKey}]`, "references: [id]", `onDelete: ${ON_DELETE[key.onDelete]}`];
  return words(name, `${target}${key.optional ? "?" : ""}`, `@relation(${parts.join(", ")})`);
}

function printIndexes(entity: AnyEntity, uniqueKeys: ReadonlySet<string>): string[] {
  const columns = Object.values(entity.columns);
  const keys = columns.filter(({ name, role }) => role === "foreignKey" && !uniqueKeys.has(name));
  const indexes = [...entity.indexes, ...keys.map(({ name }) => [name])];
  const lines = [
    ...entity.uniques.map((list) => `  @@unique([${list.join(", ")}])`),
    ...indexes.map((list) => `  @@index([${list.join(", ")}])`),
  ];
  return [...new Set(lines)];
}

/** One model of a Prisma schema: columns, relation fields, indexes. */
export function printModel(entity: AnyEntity, relations: readonly RelationField[], provider: Provider): string {
  const own = relations.filter(({ on }) => on === entity.name);
  // A one-to-one needs a unique key, whichever side says so.
  const single = relations.filter((field) => field.target === entity.name && field.key === undefined && !field.list);
  const followed = new Set(single.map(({ on, relationName }) => `${on} ${relationName}`));
  const uniqueKeys = new Set(
    Object.values(entity.columns)
      .filter(({ unique, role, relation }) => {
        const field = own.find(({ key }) => role === "foreignKey" && key?.name === relation);
        return unique || (field !== undefined && followed.has(`${field.target} ${field.relationName}`));
      })
      .map(({ name }) => name),
  );
  const lines = [
    ...Object.values(entity.columns).map((column) => printColumn(column, uniqueKeys.has(column.name), provider)),
    ...own.map(printRelation),
    ...printIndexes(entity, uniqueKeys),
  ];
  return `model ${entity.name} {\n${lines.join("\n")}\n}\n`;
}
