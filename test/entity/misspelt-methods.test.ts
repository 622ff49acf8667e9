import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { action, belongsTo, ConfigurationError, entity, int, string } from "../../src/index.ts";

const user = entity("user", { name: string });
const BUILDERS: Readonly<Record<string, object>> = {
  "a field": string,
  "a relation": belongsTo(() => user),
  "an entity": user,
  "an action": action("publish"),
};
const MISSPELT = [
  ["a field", "uniqe", "unique"],
  ["a field", "redable", "readable"],
  ["a relation", "optinal", "optional"],
  ["an entity", "owndBy", "ownedBy"],
  ["an entity", "rule", "rules"],
  ["an action", "inptu", "input"],
] as const;

const call = (name: string, method: string): unknown =>
  (BUILDERS[name] as Readonly<Record<string, () => unknown>>)[method]?.();

describe("a misspelt method", () => {
  it.each(MISSPELT)("of %s is refused with the right name: %s, %s", (name, misspelt, meant) => {
    const expected = new ConfigurationError(`there is no .${misspelt}(). Did you mean .${meant}()?`);
    expect(() => call(name, misspelt)).toThrow(expected);
  });
  it("is refused after other methods, too", () => {
    expect(() => (int.min(1) as unknown as { requird(): void }).requird()).toThrow(TypeError);
    expect(() => (int.min(1) as unknown as { defualt(): void }).defualt()).toThrow(ConfigurationError);
  });
});

describe.each(Object.entries(BUILDERS))("%s", (_, builder) => {
  it("is no promise, and has no other name by accident", async () => {
    expect(await Promise.resolve(builder)).toBe(builder);
    expect([Reflect.get(builder, "toJSON"), Reflect.get(builder, "$$typeof"), "uniqe" in builder]).toEqual([
      undefined,
      undefined,
      false,
    ]);
  });
  it("can be printed", () => {
    expect(inspect(builder)).not.toBe("");
    expect(String(builder)).toBe("[object Object]");
  });
});
