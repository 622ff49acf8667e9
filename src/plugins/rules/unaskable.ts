import type { Condition } from "../../kernel/index.ts";

/** The first column that a condition compares although nobody can: its values are encrypted and have no index. */
export function unaskable(condition: Condition): string | undefined {
  switch (condition.kind) {
    case "and":
    case "or":
      return condition.parts.map(unaskable).find((name) => name !== undefined);
    case "related":
      return unaskable(condition.where);
    case "null":
      return undefined;
    case "compare":
      return condition.column.field?.encrypted?.searchable === false ? condition.column.name : undefined;
  }
}
