import { describe, expect, it } from "vitest";
import { entity, enums, int, json, string } from "../../../src/entity/index.ts";
import { type Condition, observe, visitCondition, type Where } from "../../../src/gate/index.ts";

const task = entity("task", { name: string, state: enums("open", "done"), size: int.optional(), data: json }).build();
const updatedAt = new Date(7);
const row = { id: "t", name: "n", state: "open", size: null, data: { a: 1 }, updatedAt };

/** The values of a condition by column. */
function valuesIn(where: Where): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  visitCondition(where as Condition, (leaf) => {
    if (leaf.op === "compare") found[leaf.column.name] = leaf.value;
  });
  return found;
}

describe("observe", () => {
  it("turns the columns that were read into conditions, except overwritten ones", () => {
    const seen = observe(task, row);
    expect([seen.record.name, seen.record.size, "state" in seen.record]).toEqual(["n", null, true]);
    expect(valuesIn(seen.conditions())).toEqual({ name: "n", size: null, state: "open" });
    expect(valuesIn(seen.conditions({ name: "m" }))).toEqual({ size: null, state: "open" });
  });

  it("compares values that no condition can express with the re-read record", () => {
    const seen = observe(task, row);
    expect(seen.comparison()).toBeUndefined();
    expect([seen.record.name, seen.record.data]).toEqual(["n", { a: 1 }]);
    expect(valuesIn(seen.conditions())).toEqual({ name: "n" });
    const isSame = seen.comparison();
    expect(isSame?.({ ...row, name: "other", data: { a: 1 }, updatedAt: new Date(8) })).toBe(true);
    for (const data of [{ a: 2 }, { a: [1] }, {}, null]) expect(isSame?.({ ...row, data })).toBe(false);
    expect(seen.comparison({ data: {} })).toBeUndefined();
    const nothing = observe(task, { ...row, data: null });
    expect(nothing.record.data).toBeNull();
    expect(["", null].map((data) => nothing.comparison()?.({ ...row, data }))).toEqual([false, true]);

    const legacy = observe(task, { ...row, state: "no longer a state" });
    expect(legacy.record.state).toBe("no longer a state");
    expect(valuesIn(legacy.conditions())).toEqual({});
    expect(legacy.comparison()?.({ ...row, state: "no longer a state" })).toBe(true);
    expect(legacy.comparison()?.({ ...row, state: "open" })).toBe(false);
  });

  it("compares with the values at the time of reading, even if they were changed since", () => {
    const seen = observe(task, structuredClone(row));
    (seen.record.data as { a: number }).a = 2;
    expect(seen.comparison()?.({ ...row, data: { a: 1 } })).toBe(true);
    expect(seen.comparison()?.({ ...row, data: { a: 2 } })).toBe(false);
  });
});
