import { canHold } from "../../../../entity/index.ts";
import type { Row } from "../../../../gate/index.ts";
import { DatabaseError } from "../../../../kernel/index.ts";
import { assertKept } from "../../../sql/index.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { ClientPlan } from "./client-plan.ts";
import { exactNumber } from "./exact-number.ts";

/** Plain strings that Prisma reads as its words for two kinds of null. */
const NULL_WORDS: ReadonlySet<unknown> = new Set(["DbNull", "JsonNull", "AnyNull"]);

/** A copy; a string that is one of Prisma's words goes in its own wire form, where it is a string like any other. */
function toPrismaJson(value: unknown): unknown {
  if (!NULL_WORDS.has(value)) return structuredClone(value);
  return { toJSON: () => ({ $type: "Json", value: JSON.stringify(value) }) };
}

/**
 * Submitted values in Prisma's words: a copy, so that the caller may go on with the original. What is undefined counts
 * as not submitted.
 * @throws DatabaseError for names that are no columns and values that the column cannot hold; ValidationFailedError for
 *   moments that this database does not keep
 */
export function toPrismaData(
  { entity, jsonColumns }: ClientPlan,
  data: Row,
  { dbNull, dialect }: Pick<ClientConnection, "dbNull" | "dialect">,
): Row {
  const given: Row = {};
  for (const name of Object.keys(data)) {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) throw new DatabaseError(`${entity.name} has no column "${name}"`);
    const value = data[name];
    if (value === undefined) continue;
    if (!canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} cannot hold this value`);
    assertKept(name, value, dialect.firstYear);
    if (!jsonColumns.has(name)) given[name] = exactNumber(value);
    else given[name] = value === null ? dbNull : toPrismaJson(value);
  }
  return given;
}
