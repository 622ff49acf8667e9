import type { AnyEntity, ColumnDefinition, EntityModel, OnDelete, Provider } from "../../../entity/index.ts";
import { defaultAttribute } from "./default-attribute.ts";
import type { RelationField } from "./relation-sides.ts";
import { uniqueColumnsOf } from "./unique-keys.ts";

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

function printIndexes(entity: AnyEntity, unique: ReadonlySet<string>): string[] {
  const columns = Object.values(entity.columns);
  const keys = columns.filter(({ name, role }) => role === "foreignKey" && !unique.has(name));
  const indexes = [...entity.indexes, ...keys.map(({ name }) => [name])];
  const lines = [
    ...entity.uniques.map((list) => `  @@unique([${list.join(", ")}])`),
    ...indexes.map((list) => `  @@index([${list.join(", ")}])`),
  ];
  return [...new Set(lines)];
}

/** Declared relations as declared, then those that nobody declared. */
function inOrderOf(names: readonly string[]): (a: RelationField, b: RelationField) => number {
  const position = ({ name, hidden }: RelationField): number => (hidden ? names.length : names.indexOf(name));
  return (a, b) => position(a) - position(b);
}

/** One model of a Prisma schema: columns, relation fields, indexes. */
export function printModel(
  model: EntityModel,
  entity: AnyEntity,
  relations: readonly RelationField[],
  provider: Provider,
): string {
  const fields = relations.filter(({ on }) => on === entity.name).sort(inOrderOf(Object.keys(entity.relations)));
  const unique = new Set(uniqueColumnsOf(model, entity));
  const lines = [
    ...Object.values(entity.columns).map((column) => printColumn(column, unique.has(column.name), provider)),
    ...fields.map(printRelation),
    ...printIndexes(entity, unique),
  ];
  return `model ${entity.name} {\n${lines.join("\n")}\n}\n`;
}
