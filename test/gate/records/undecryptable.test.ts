import { describe, expect, it } from "vitest";
import { createModel, entity, string } from "../../../src/entity/index.ts";
import {
  forDecisions,
  noteUndecryptable,
  type OperationScope,
  observe,
  type Row,
  satisfiesAlone,
  type Where,
} from "../../../src/gate/index.ts";
import { DecryptionError } from "../../../src/kernel/index.ts";

const account = entity("account", { name: string, blocked: string.optional() }).build();
const scope = { app: { model: createModel([account]) } } as unknown as OperationScope;
const read = (): Row => {
  const row: Row = { id: "a", name: "n", blocked: null };
  noteUndecryptable(row, new Set(["blocked"]));
  return row;
};
const holds = (row: Row, predicate: Where) => satisfiesAlone(scope, account, row, { predicate, guard: undefined });

describe("a null in place of a value that cannot be decrypted", () => {
  it("throws when a decision depends on it, in copies too", () => {
    for (const row of [read(), { ...read() }])
      for (const seen of [forDecisions(row), observe(account, row).record]) {
        expect([seen.id, seen.name]).toEqual(["a", "n"]);
        expect(() => seen.blocked).toThrow(DecryptionError);
        expect(() => ({ ...seen })).toThrow('"blocked" cannot be decrypted');
      }
    expect(JSON.stringify(read())).toBe('{"id":"a","name":"n","blocked":null}');
  });

  it("leaves conditions on it undecided, negated or not", () => {
    for (const where of [{ blocked: null }, { NOT: { blocked: "x" } }, { OR: [{ name: "n" }, { blocked: null }] }])
      expect(holds(read(), where)).toBeUndefined();
    expect(holds(read(), { name: "n" })).toBe(true);
  });

  it("becomes normal when it gets another value", () => {
    const row = { ...read(), blocked: "x" };
    expect([forDecisions(row).blocked, holds(row, { blocked: "x" })]).toEqual(["x", true]);
    const plain: Row = { id: "b", name: "n", blocked: null };
    expect(forDecisions(plain)).toBe(plain);
    expect(holds(plain, { blocked: null })).toBe(true);
  });
});
