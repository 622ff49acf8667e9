import type { Condition } from "../../kernel/index.ts";

/** The condition that holds exactly where another does not; two-valued, so null counts as “does not”. */
export function complement(condition: Condition): Condition {
  switch (condition.kind) {
    case "and":
      return { kind: "or", parts: condition.parts.map(complement) };
    case "or":
      return { kind: "and", parts: condition.parts.map(complement) };
    case "related":
      return { ...condition, quantifier: condition.quantifier === "some" ? "none" : "some" };
    default:
      return { ...condition, negated: !condition.negated };
  }
}
