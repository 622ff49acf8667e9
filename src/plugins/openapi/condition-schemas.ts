import {
  type AnyEntity,
  type ColumnDefinition,
  type JsonSchema,
  jsonMemberKind,
  jsonSchemaOf,
  OPERATORS,
  type Operator,
  operandOf,
  type ResolvedRelation,
} from "../../entity/index.ts";
import { logicOf } from "../../gate/index.ts";

const TEXT: JsonSchema = { type: "string" };
const TRUTH: JsonSchema = { type: "boolean" };
const NULL: JsonSchema = { type: "null" };

/** The conditions that one reader may use on one entity. */
export interface ConditionSubject {
  readonly entity: AnyEntity;
  /** Columns that the reader may filter by. */
  readonly columns: readonly ColumnDefinition[];
  /** Relations whose records the reader may read. */
  readonly relations: readonly ResolvedRelation[];
  /** The schema of conditions on an entity; it may refer to itself. */
  readonly ref: (entity: AnyEntity) => JsonSchema;
}

/** The schema of the JSON in `_where`: fields and related records, combined with `and`, `or` and `not`. */
export function conditionsSchema({ entity, columns, relations, ref }: ConditionSubject): JsonSchema {
  const own = ref(entity);
  const list: JsonSchema = { type: "array", items: own };
  /** A field or relation with the name of an operator takes precedence; the operator is then written in capitals. */
  const logic = (name: string): string => (logicOf(entity, name) === undefined ? name.toUpperCase() : name);
  return {
    type: "object",
    description: `Conditions on records of ${entity.name}; all of them must hold.`,
    properties: {
      [logic("and")]: list,
      [logic("or")]: list,
      [logic("not")]: own,
      ...Object.fromEntries(columns.map((column) => [column.name, onColumn(column)])),
      ...Object.fromEntries(
        relations
          .filter(({ remote }) => remote === undefined)
          .map((relation) => [relation.name, related(relation, ref)]),
      ),
    },
    additionalProperties: false,
  };
}

/** A value, one of several values, or operators. */
function onColumn({ kind }: ColumnDefinition): JsonSchema {
  const value = jsonSchemaOf(kind.item ?? kind);
  const operators = [...kind.operators].map((operator) => [operator, operand(operator, value)]);
  const tests = { type: "object", properties: Object.fromEntries(operators), additionalProperties: false };
  if (kind.hasPaths) return { anyOf: [NULL, tests, atPath()] };
  if (!kind.operators.has("eq")) return tests;
  const one = [value, NULL];
  return { anyOf: kind.operators.has("in") ? [...one, { type: "array", items: value }, tests] : [...one, tests] };
}

/** A test of a value at a path in JSON. */
function atPath(): JsonSchema {
  const value = jsonSchemaOf(jsonMemberKind);
  const steps = { type: "array", items: { type: ["string", "integer"] }, minItems: 1, maxItems: 20 };
  const tests = [...jsonMemberKind.operators].map((operator) => [operator, operand(operator, value)]);
  return {
    type: "object",
    properties: {
      path: { ...steps, description: "Names of members, and positions in arrays." },
      ...Object.fromEntries(tests),
    },
    required: ["path"],
    additionalProperties: false,
  };
}

function operand(operator: Operator, value: JsonSchema): JsonSchema {
  switch (operandOf(operator)) {
    case "truth":
      return TRUTH;
    case "text":
      return TEXT;
    case "values":
    case "items":
      return { type: "array", items: value };
    default:
      return OPERATORS[operator].group === "equality" ? { anyOf: [value, NULL] } : value;
  }
}

/** Conditions on the related record. For several records, also conditions on some, every or none of them. */
function related({ target, many }: ResolvedRelation, ref: ConditionSubject["ref"]): JsonSchema {
  const where = ref(target);
  const isMember = (name: string): boolean =>
    Object.hasOwn(target.columns, name) || Object.hasOwn(target.relations, name);
  const quantifiers = ["some", "every", "none"].filter((name) => !isMember(name));
  if (!many || quantifiers.length === 0) return { anyOf: [where, NULL] };
  const properties = Object.fromEntries(quantifiers.map((name) => [name, where]));
  return { anyOf: [where, { type: "object", properties, additionalProperties: false }, NULL] };
}
