import { type Condition, visitCondition } from "../../gate/index.ts";

/** The first column that a condition compares although nobody can: its values are encrypted and have no index. */
export function unaskable(condition: Condition): string | undefined {
  let name: string | undefined;
  visitCondition(condition, (leaf) => {
    if (leaf.op === "compare" && leaf.value !== null && leaf.column.field?.encrypted?.searchable === false)
      name ??= leaf.column.name;
  });
  return name;
}
