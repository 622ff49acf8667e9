/** The form of an operator's operand. */
export type OperandForm =
  /** A value of the field's kind. */
  | "value"
  /** A list of values of the field's kind. */
  | "values"
  /** A part of a text. */
  | "text"
  /** An item of an array. */
  | "item"
  /** A list of items of an array. */
  | "items"
  /** `true` or `false`. */
  | "truth";

/** The groups of operators, by the property of a kind that they require; every kind has `any`. */
export type OperatorGroup = "any" | "equality" | "order" | "text" | "list";

interface OperatorDescription {
  readonly group: OperatorGroup;
  readonly operand: OperandForm;
  /** The label in a selection list. */
  readonly label: string;
  /** The end of a sentence that starts with the field. */
  readonly meaning: string;
}

/**
 * The operators of conditions, by their names in `where` objects and query strings. Browsers also load this file, so it
 * has no imports.
 */
export const OPERATORS = {
  eq: {
    group: "equality",
    operand: "value",
    label: "is",
    meaning: "is this, or one of these where the parameter is repeated",
  },
  ne: { group: "equality", operand: "value", label: "is not", meaning: "is not this" },
  gt: { group: "order", operand: "value", label: "is more than", meaning: "is greater than this" },
  gte: { group: "order", operand: "value", label: "is at least", meaning: "is this or greater" },
  lt: { group: "order", operand: "value", label: "is less than", meaning: "is less than this" },
  lte: { group: "order", operand: "value", label: "is at most", meaning: "is this or less" },
  in: { group: "equality", operand: "values", label: "is one of", meaning: "is one of these" },
  nin: { group: "equality", operand: "values", label: "is not one of these", meaning: "is not one of these" },
  like: { group: "text", operand: "text", label: "contains", meaning: "contains this text, whatever the case" },
  starts: { group: "text", operand: "text", label: "begins with", meaning: "begins with this text, whatever the case" },
  ends: { group: "text", operand: "text", label: "ends with", meaning: "ends with this text, whatever the case" },
  has: { group: "list", operand: "item", label: "has the item", meaning: "has this item" },
  hasAny: { group: "list", operand: "items", label: "has one of", meaning: "has one of these items" },
  hasAll: { group: "list", operand: "items", label: "has all of", meaning: "has all of these items" },
  isEmpty: { group: "list", operand: "truth", label: "has no items", meaning: "has no items (true) or some (false)" },
  null: { group: "any", operand: "truth", label: "is empty", meaning: "is empty (true) or not (false)" },
} as const satisfies Readonly<Record<string, OperatorDescription>>;

/** The operators that conditions may use. */
export type Operator = keyof typeof OPERATORS;

/** The operand form of an operator. */
export type OperandOf<K extends Operator> = (typeof OPERATORS)[K]["operand"];

const OPERATOR_NAMES: readonly Operator[] = Object.keys(OPERATORS) as Operator[];

/** The operators that are a suffix of a parameter's name: `views_gte=10`. `eq` is the bare name. */
export const SUFFIXES: readonly Operator[] = OPERATOR_NAMES.filter((operator) => operator !== "eq");

/** Whether a name is an operator. */
export function isOperator(name: string): name is Operator {
  return Object.hasOwn(OPERATORS, name);
}

/** Returns the operand form of an operator. */
export function operandOf(operator: Operator): OperandForm {
  return OPERATORS[operator].operand;
}

function operatorsOf(...groups: readonly OperatorGroup[]): ReadonlySet<Operator> {
  const inGroup = (group: OperatorGroup): Operator[] =>
    OPERATOR_NAMES.filter((name) => OPERATORS[name].group === group);
  return new Set(groups.flatMap(inGroup));
}

// The operators by kind of field. Kinds with an order also have equality, and texts have both.
export const NULL_ONLY: ReadonlySet<Operator> = operatorsOf("any");
export const EQUALITY_OPERATORS: ReadonlySet<Operator> = operatorsOf("equality", "any");
export const ORDER_OPERATORS: ReadonlySet<Operator> = operatorsOf("equality", "any", "order");
export const TEXT_OPERATORS: ReadonlySet<Operator> = operatorsOf("equality", "any", "order", "text");
export const LIST_OPERATORS: ReadonlySet<Operator> = operatorsOf("list", "any");
