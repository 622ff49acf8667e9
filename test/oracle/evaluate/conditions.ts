/** Whether a record meets a condition (drivers.md, “Conditions”): two-valued logic; a comparison with null is false. */
import type {
  Comparison,
  Condition,
  EntityModel,
  Model,
  Principal,
  RelationModel,
  Row,
  Scalar,
  Value,
} from "../model.ts";
import { computedNames, entityOf, keyOf, pairsOf, relationOf } from "../model.ts";
import { pairsAt, rowOf, rowsOf, type World } from "./world.ts";

const valueFrom = (value: Value, me: Principal): Scalar =>
  value !== null && typeof value === "object" ? (me?.[value.me] ?? null) : value;

export function compare(stored: Scalar, op: Comparison, given: Scalar | readonly Scalar[]): boolean {
  if (op === "ne") return !compare(stored, "eq", given);
  if (op === "nin") return !compare(stored, "in", given);
  if (op === "null") return (stored === null) === given;
  if (op === "eq") return stored === given;
  if (op === "in") return (given as readonly Scalar[]).includes(stored);
  if (stored === null || given === null) return false;
  const text = String(stored).toLowerCase();
  const part = String(given).toLowerCase();
  if (op === "like") return text.includes(part);
  if (op === "starts") return text.startsWith(part);
  if (op === "ends") return text.endsWith(part);
  const order = stored < (given as Scalar & {}) ? -1 : stored > (given as Scalar & {}) ? 1 : 0;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[op];
}

/** The related records of a record, including softly deleted ones. */
export function relatedTo(model: Model, world: World, entity: EntityModel, row: Row, relation: RelationModel): Row[] {
  if (relation.kind === "belongsTo" || relation.kind === "selfRef") {
    const found = rowOf(world, relation.target, row[keyOf(relation)]);
    return found === undefined ? [] : [found];
  }
  if (relation.kind === "manyToMany") {
    const { at, flipped } = pairsOf(model, entity, relation);
    return [...pairsAt(world, at)]
      .map((pair) => pair.split("|") as [string, string])
      .map(([source, target]) => (flipped ? ([target, source] as const) : ([source, target] as const)))
      .filter(([mine]) => mine === row.id)
      .flatMap(([, theirs]) => {
        const found = rowOf(world, relation.target, theirs);
        return found === undefined ? [] : [found];
      });
  }
  const key = `${relation.inverse}Id`;
  return rowsOf(world, relation.target).filter((other) => other[key] === row.id);
}

/** The record need not be in the world: the record of a create is not. */
export function holds(
  model: Model,
  world: World,
  entity: EntityModel,
  row: Row,
  condition: Condition,
  me: Principal,
): boolean {
  const inner = (of: Condition): boolean => holds(model, world, entity, row, of, me);
  // A value that the database has not computed yet meets no condition.
  const isUnknown = (of: Condition): boolean =>
    of.is === "column" && !(of.column in row) && computedNames(entity).includes(of.column);
  switch (condition.is) {
    case "and":
      return condition.of.every(inner);
    case "or":
      return condition.of.some(inner);
    case "not":
      return !isUnknown(condition.of) && !inner(condition.of);
    case "related": {
      const relation = relationOf(entity, condition.relation);
      if (relation === undefined) throw new TypeError(`no relation ${condition.relation}`);
      const target = entityOf(model, relation.target);
      return relatedTo(model, world, entity, row, relation).some((other) =>
        holds(model, world, target, other, condition.matches, me),
      );
    }
    default: {
      if (isUnknown(condition)) return false;
      const given = condition.value;
      const values = Array.isArray(given) ? given.map((one) => valueFrom(one, me)) : valueFrom(given as Value, me);
      return compare(row[condition.column] ?? null, condition.op, values);
    }
  }
}
