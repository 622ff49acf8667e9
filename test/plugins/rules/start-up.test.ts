import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { ConfigurationError, type EntityLike, entity, string } from "../../../src/entity/index.ts";
import { type AppOptions, createApp } from "../../../src/gate/index.ts";
import { admin, all, defineRule, type Rule, rules } from "../../../src/plugins/rules/index.ts";

const thing = (read: readonly (string | { readonly name: string })[]): EntityLike =>
  entity("thing", { name: string }).rules({ read });

function start(entities: readonly EntityLike[], given?: readonly Rule[], options: Partial<AppOptions> = {}) {
  return createApp({ entities, driver: memoryDriver(), plugins: [rules({ rules: given })], ...options });
}

function problemsOf(...args: Parameters<typeof start>): readonly string[] {
  try {
    start(...args);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe("rules at the start of an app", () => {
  it("refuse a name that is not defined, with the place and a suggestion", () => {
    expect(problemsOf([thing(["ownr"])])).toEqual(['thing.rules.read: there is no rule "ownr". Did you mean "owner"?']);
    expect(problemsOf([thing(["all(admin,athenticated)"])])[0]).toContain('Did you mean "authenticated"?');
    expect(problemsOf([thing(["all()"])])[0]).toContain('there is no rule ""');
  });

  it("refuse owner and ownerOrAdmin on an entity without an owner", () => {
    for (const name of ["owner", "ownerOrAdmin", "all(authenticated,owner)"])
      expect(problemsOf([thing([name])])[0]).toMatch(
        /^thing\.rules\.read: rule "owner(OrAdmin)?" cannot work here: .*ownedBy/,
      );
  });

  it("refuse a second entity whose records own themselves", () => {
    const self = (name: string) =>
      entity(name, { name: string })
        .ownedBy("id")
        .rules({ read: ["owner"] });
    expect(problemsOf([self("user")])).toEqual([]);
    expect(problemsOf([self("user"), self("agent")])).toEqual([
      expect.stringMatching(/^agent: \.ownedBy\("id"\) is for the entity of the callers, and user has it already/),
    ]);
  });

  it("use default rules only for entities without rules", async () => {
    const silent = entity("silent", { name: string });
    const spoken = entity("spoken", { name: string }).rules({ create: ["everyone"] });
    const kernel = start([silent, spoken], [], { defaultRules: { read: ["everyone"] } });
    const { silent: one, spoken: other } = kernel.as({ id: "ann" });
    await expect(one?.list()).resolves.toMatchObject({ total: 0 });
    await expect(other?.list()).rejects.toMatchObject({ status: 403 });
    await kernel.close();
  });

  it("check default rules too", () => {
    const silent = entity("silent", { name: string });
    expect(problemsOf([silent], [], { defaultRules: { read: ["everybody"], reed: [] } as never })).toEqual([
      expect.stringContaining('there is no access "reed", only create, read, update, delete. Did you mean "read"?'),
      expect.stringContaining('silent (defaultRules.read): there is no rule "everybody"'),
    ]);
  });

  it("report every problem at once", () => {
    const one = entity("one", { name: string }).rules({ read: ["a b c"], update: ["owner"] });
    expect(problemsOf([one, thing(["nope nope"])])).toHaveLength(3);
  });

  it("call a rule's own check", () => {
    const picky = defineRule("picky", () => true, {
      check: ({ fields }) => ("secret" in fields ? undefined : "it needs a field called secret"),
    });
    expect(problemsOf([thing([picky])])).toEqual([
      'thing.rules.read: rule "picky" cannot work here: it needs a field called secret',
    ]);
  });
});

describe("a rule given as an object", () => {
  const yes = defineRule("given twice", () => true);
  const no = defineRule("given twice", () => false);
  const lists = async (kernel: ReturnType<typeof start>) => {
    const outcome = await kernel
      .as({ id: "ann" })
      .thing?.list()
      .then(
        () => "passes",
        () => "denies",
      );
    await kernel.close();
    return outcome;
  };

  it("is the one that the definition uses, even if another has its name", async () => {
    expect(await lists(start([thing([yes])]))).toBe("passes");
    expect(await lists(start([thing([no])]))).toBe("denies");
    expect(await lists(start([thing([all("authenticated", yes)])]))).toBe("passes");
    expect(await lists(start([thing([all("authenticated", all(no))])]))).toBe("denies");
    expect(await lists(start([thing([no])], [yes]))).toBe("denies");
  });

  it("is what the same definition means by its name", async () => {
    const both = entity("thing", { name: string }).rules({ read: ["given twice"], create: [yes] });
    expect(await lists(start([both]))).toBe("passes");
  });

  it("cannot be used by name in other entities of the app", () => {
    const other = entity("other", { name: string }).rules({ read: ["given twice"] });
    expect(problemsOf([thing([yes]), other])).toEqual([
      expect.stringContaining('other.rules.read: several rules were defined as "given twice"'),
    ]);
  });

  it("cannot have the name of a built-in rule", () => {
    for (const name of ["everyone", "admin"])
      expect(problemsOf([thing([{ ...yes, name }])])).toEqual([
        `thing.rules.read: "${name}" is a built-in rule; use another name`,
      ]);
    expect(problemsOf([thing([admin, { name: "everyone" }])])).toEqual([]);
  });

  it("is refused next to another of the same name in one entity", () => {
    const twice = entity("thing", { name: string.readable(yes) }).rules({ read: [yes], update: [all(no)] });
    expect(problemsOf([twice])).toEqual(['thing: two different rules are called "given twice"']);
  });
});

describe("defineRule", () => {
  it("creates a frozen rule with a name", async () => {
    const rule = defineRule("known by name", () => true);
    expect(Object.isFrozen(rule)).toBe(true);
    const kernel = start([thing(["known by name"])]);
    await expect(kernel.as({ id: "ann" }).thing?.list()).resolves.toMatchObject({ total: 0 });
    await kernel.close();
  });

  it("refuses invalid names, and values that are not functions", () => {
    for (const name of ["", " a", "a ", "a,b", "all(a)", "(", "owner", 7 as never])
      expect(() => defineRule(name, () => true)).toThrow(ConfigurationError);
    expect(() => defineRule("no function", undefined as never)).toThrow("needs a function");
    expect(() => defineRule("no where", () => true, { where: {} as never })).toThrow(
      "options.where must be a function",
    );
  });

  it("leaves it to the app to choose between two rules with the same name", async () => {
    const yes = defineRule("shared", () => true);
    const no = defineRule("shared", () => false);
    expect(problemsOf([thing(["shared"])])).toEqual([
      'thing.rules.read: several rules were defined as "shared"; give the rule itself instead of its name, or say which one is meant with `rules: [...]`',
    ]);
    for (const [given, outcome] of [
      [yes, "resolves"],
      [no, "rejects"],
    ] as const) {
      const kernel = start([thing(["shared"])], [given]);
      await expect(kernel.as({ id: "ann" }).thing?.list())[outcome].toBeDefined();
      await kernel.close();
    }
  });

  it("accepts rules created elsewhere, under other names", async () => {
    const foreign: Rule = { name: "foreign", evaluate: () => true };
    const kernel = start([thing([all("authenticated", foreign)])], [foreign, foreign, admin]);
    await expect(kernel.as({ id: "ann" }).thing?.list()).resolves.toBeDefined();
    await kernel.close();
    const problems = problemsOf([], [foreign, { ...foreign }, { ...admin }, {} as Rule, undefined as never]);
    expect(problems).toEqual([
      'rules: two different rules are called "foreign"',
      'rules: "admin" is a built-in rule; use another name',
      "rules: something in the list is not a rule; make one with defineRule(name, fn)",
      "rules: something in the list is not a rule; make one with defineRule(name, fn)",
    ]);
  });
});
