import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import { type Compare, type Condition, compare, mapCondition } from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import type { EncryptionPlan } from "./encryption-plan.ts";

/**
 * A condition as it can be asked of what is stored: comparisons with values of encrypted fields become comparisons with
 * their blind indexes. Whether there is a value at all the field's own column knows.
 * @param searched takes the names of the entity's columns whose values a record is found by
 * @throws BadRequestError for a comparison with an encrypted field that is not searchable
 */
export function storedWhere(
  plan: EncryptionPlan,
  entity: AnyEntity,
  where: Condition,
  searched?: Set<string>,
): Condition {
  if (!plan.reaches(entity)) return where;
  if (searched !== undefined) collectSearched(plan, entity, where, searched);
  return mapCondition(where, (leaf, inside) =>
    leaf.op === "compare" ? storedComparison(plan, inside?.target ?? entity, leaf) : leaf,
  );
}

function storedComparison(plan: EncryptionPlan, entity: AnyEntity, comparison: Compare): Condition {
  const { column, test, value } = comparison;
  const encrypted = plan.columnsOf(entity)?.find(({ name }) => name === column.name);
  if (encrypted === undefined || value === null) return comparison;
  const { name, index } = encrypted;
  if (index === undefined)
    throw new BadRequestError(
      `where on ${entity.name}: "${name}" is encrypted; only .encrypted({ searchable: true }) can be compared`,
    );
  const digest = (one: unknown): string => blindIndex(plan.ring, { entity: entity.name, field: name }, one as string);
  const stored = test === "in" ? (value as readonly unknown[]).map(digest) : digest(value);
  return compare(entity.columns[index] as ColumnDefinition, test, stored);
}

/** Notes the encrypted columns of a record that a value of theirs finds it by. */
function collectSearched(plan: EncryptionPlan, entity: AnyEntity, condition: Condition, searched: Set<string>): void {
  if (condition.op === "and" || condition.op === "or")
    for (const part of condition.of) collectSearched(plan, entity, part, searched);
  else if (condition.op === "compare" && condition.value !== null) {
    const { name } = condition.column;
    if (plan.columnsOf(entity)?.some((column) => column.name === name)) searched.add(name);
  }
}
