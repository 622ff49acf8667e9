import type { AnyEntity } from "../../../entity/index.ts";
import { BadRequestError, type EntityRef, entityName, type Where } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import type { EncryptedColumn, EncryptionPlan } from "./encryption-plan.ts";

const LOGIC: ReadonlySet<string> = new Set(["AND", "OR", "NOT"]);

type Digest = (value: unknown) => unknown;

/**
 * A where as it can be asked of what is stored: conditions on values of encrypted fields become conditions on their
 * blind indexes.
 * @throws BadRequestError for a comparison with an encrypted field that is not searchable
 */
export function storedWhere<W extends Where | undefined>(plan: EncryptionPlan, ref: EntityRef, where: W): W {
  const entity = where === undefined || !plan.reaches(ref) ? undefined : plan.model.get(entityName(ref));
  return entity === undefined ? where : (rewrite(plan, entity, where) as W);
}

function rewrite(plan: EncryptionPlan, entity: AnyEntity, where: unknown): unknown {
  // What is no plain object is refused by the driver, with the words it has for it; so are names like __proto__.
  if (!isPlainObject(where)) return where;
  const columns = plan.columnsOf(entity);
  const stored = Object.create(null) as Record<string, unknown>;
  const extra: Where[] = [];
  for (const [name, value] of Object.entries(where)) {
    if (LOGIC.has(name)) {
      stored[name] = Array.isArray(value)
        ? value.map((part) => rewrite(plan, entity, part))
        : rewrite(plan, entity, value);
      continue;
    }
    const column = columns?.find((encrypted) => encrypted.name === name);
    if (column !== undefined) extra.push(storedCondition(plan, entity, column, value));
    else if (value === null || Object.hasOwn(entity.columns, name)) stored[name] = value;
    else {
      const target = plan.model.relation(entity, name)?.target;
      stored[name] = target === undefined ? value : rewrite(plan, target, value);
    }
  }
  if (extra.length === 0) return stored;
  return Object.keys(stored).length === 0 && extra.length === 1 ? extra[0] : { AND: [stored, ...extra] };
}

/** Null is stored as null, in the column and in its index; every other value only the index can be asked for. */
function storedCondition(plan: EncryptionPlan, entity: AnyEntity, column: EncryptedColumn, value: unknown): Where {
  const { name, index } = column;
  const operators = isPlainObject(value)
    ? Object.entries(value)
    : [[Array.isArray(value) ? "in" : "eq", value] as const];
  const place = { entity: entity.name, field: name };
  const digest: Digest = (one) => {
    if (one === null || one === undefined) return one;
    if (index === undefined)
      throw new BadRequestError(
        `where on ${entity.name}: "${name}" is encrypted; only .encrypted({ searchable: true }) can be compared`,
      );
    return blindIndex(plan.ring, place, one as string);
  };
  const stored = operators.map(([operator, operand]) => {
    if (operator === "null") return [operator, operand] as const;
    return [operator, Array.isArray(operand) ? operand.map(digest) : digest(operand)] as const;
  });
  return { [index ?? name]: Object.fromEntries(stored) };
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
