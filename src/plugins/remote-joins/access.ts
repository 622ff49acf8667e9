import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { type Condition, compileWhere, matches, type Row, type RowAccess } from "../../kernel/index.ts";

/** Who may see a record, or a field of it, decided on nothing but the record. */
export interface Access {
  /** Columns that the condition looks at. */
  readonly columns: readonly string[];
  /** Whether a record satisfies the condition; undefined where there is none. What the record does not tell is a no. */
  readonly holds: ((record: Row) => boolean) | undefined;
  readonly guard: ((record: Row) => Promise<boolean>) | undefined;
}

/** Compiles what rules said for records of another service: there are no related records to ask for. */
export function compileAccess(model: EntityModel, entity: AnyEntity, { predicate, guard }: Partial<RowAccess>): Access {
  if (predicate === undefined) return { columns: [], holds: undefined, guard: alone(model, entity, guard) };
  const condition = compileWhere(model, entity, predicate);
  const columns = new Set<string>();
  if (!collectColumns(condition, columns))
    return { columns: [], holds: () => false, guard: alone(model, entity, guard) };
  const needed = [...columns];
  return {
    columns: needed,
    holds: (record) => needed.every((name) => name in record) && matches(condition, record, noRelatedRows),
    guard: alone(model, entity, guard),
  };
}

/** A guard whose conditions are decided on the record, too. */
function alone(model: EntityModel, entity: AnyEntity, guard: RowAccess["guard"]): Access["guard"] {
  return (
    guard &&
    (async (record) => {
      const answer = await guard(record);
      return typeof answer === "object"
        ? compileAccess(model, entity, { predicate: answer }).holds?.(record) === true
        : answer;
    })
  );
}

/** Whether a condition is about own columns alone, which are collected. */
function collectColumns(condition: Condition, columns: Set<string>): boolean {
  if (condition.kind === "related") return false;
  if ("parts" in condition) return condition.parts.every((part) => collectColumns(part, columns));
  columns.add(condition.column.name);
  return true;
}

function noRelatedRows(): readonly Row[] {
  return [];
}
