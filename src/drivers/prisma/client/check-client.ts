import { type ColumnDefinition, ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import type { Logger } from "../../../kernel/index.ts";
import { compilePlans, printedUniqueKeys } from "../../sql/index.ts";
import { delegateOf } from "./words/client-plan.ts";
import { modelApi, type StatementClient } from "./words/client-shape.ts";

/** Says that deleted records keep their unique values, where a database has no indexes over some of the rows. */
export function warnOfTakenValues(model: EntityModel, log: Logger): void {
  for (const entity of model.entities) {
    const keys = entity.softDelete === undefined ? [] : printedUniqueKeys(model, entity);
    if (keys.length === 0) continue;
    log.warn("MySQL cannot free the unique values of records that are softly deleted", {
      entity: entity.name,
      fields: keys.map((columns) => columns.join(", ")),
    });
  }
}

/** What a client says of a field. */
interface ClientField {
  readonly typeName?: string;
  readonly isList?: boolean;
  readonly isEnum?: boolean;
}

/** What is wrong with the type of a client's field; Prisma compares values of an enum as texts by equality. */
function typeProblem(at: string, { name, kind, field }: ColumnDefinition, found: ClientField): string | undefined {
  const { scalar } = kind.column;
  const { typeName, isList = false, isEnum = false } = found;
  if (typeName === undefined || (!isList && (typeName === scalar || (isEnum && scalar === "String")))) return undefined;
  const remedy = field === undefined ? "" : ", or declare another field";
  return `${at} "${name}" of the type ${typeName}${isList ? "[]" : ""}, and ${scalar} is expected; change the column's type${remedy}`;
}

/**
 * Compares a client's models with the entities.
 * @throws ConfigurationError naming every model and field that the client does not have, or has with another type
 */
export function checkClient(client: StatementClient, model: EntityModel): void {
  const problems: string[] = [];
  for (const { entity } of compilePlans(model).values()) {
    const fields = modelApi(client, delegateOf(entity))?.fields;
    if (fields === undefined) {
      problems.push(`the Prisma client has no model "${entity.name}"`);
      continue;
    }
    const known = new Set(Object.keys(fields)); // a proxy that says yes to any name it is asked for
    for (const column of Object.values(entity.columns)) {
      const at = `model ${entity.name} of the Prisma client has`;
      const problem = known.has(column.name)
        ? typeProblem(at, column, fields[column.name] as ClientField)
        : `${at} no field "${column.name}"`;
      if (problem !== undefined) problems.push(problem);
    }
  }
  if (problems.length === 0) return;
  throw new ConfigurationError([
    ...problems,
    "toPrismaSchema(entities, { provider }) prints a schema that fits; run `prisma generate` after changing yours",
  ]);
}
