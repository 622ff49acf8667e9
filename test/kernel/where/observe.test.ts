import { describe, expect, it } from "vitest";
import { entity, enums, int, json, string } from "../../../src/entity/index.ts";
import { observe } from "../../../src/kernel/index.ts";

const task = entity("task", { name: string, state: enums("open", "done"), size: int.optional(), data: json }).build();
const updatedAt = new Date(7);
const row = { id: "t", name: "n", state: "open", size: null, data: { a: 1 }, updatedAt };

describe("observe", () => {
  it("turns what was looked at into conditions, but for what is being overwritten", () => {
    const seen = observe(task, row);
    expect([seen.record.name, seen.record.size, "state" in seen.record]).toEqual(["n", null, true]);
    expect(seen.conditions()).toEqual({ name: "n", size: null, state: "open" });
    expect(seen.conditions({ name: "m" })).toEqual({ size: null, state: "open" });
  });

  it("lets the time of the last change stand in for what cannot be compared", () => {
    const documents = observe(task, row);
    expect(documents.record.data).toEqual({ a: 1 });
    expect(documents.conditions()).toEqual({ updatedAt });
    const { updatedAt: _, ...timeless } = { ...row, state: "no longer a state" };
    const legacy = observe(task, { ...timeless, updatedAt });
    expect(legacy.record.state).toBe("no longer a state");
    expect(legacy.conditions()).toEqual({ updatedAt });
    const nothing = observe(task, timeless);
    expect(nothing.record.state).toBe("no longer a state");
    expect(nothing.conditions()).toEqual({});
  });
});
