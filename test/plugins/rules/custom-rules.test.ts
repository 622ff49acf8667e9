import { describe, expect, it, vi } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, bool, entity, hasMany, int, isKeelsonError, string } from "../../../src/entity/index.ts";
import type { OperationInput, Where } from "../../../src/gate/index.ts";
import { createApp } from "../../../src/gate/index.ts";
import type { User } from "../../../src/kernel/index.ts";
import { all, defineRule, type Rule, rules } from "../../../src/plugins/rules/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { recordStatements } from "../../support/record-statements.ts";

const team = entity("team", { name: string, members: int, docs: hasMany((): unknown => doc()) }).build();
let readRules: readonly (string | { readonly name: string })[] = [];
const doc = () =>
  entity("doc", {
    title: string,
    open: bool.default(false),
    level: int.default(0),
    team: belongsTo(() => team).optional(),
  })
    .rules({ create: readRules, read: readRules, update: readRules, delete: readRules })
    .build();

const seed = {
  team: [
    { id: "t1", name: "One", members: 3 },
    { id: "t2", name: "Two", members: 5 },
  ],
  doc: [
    { id: "d1", title: "first", open: true, level: 1, teamId: "t1" },
    { id: "d2", title: "second", open: false, level: 2, teamId: "t2" },
    { id: "d3", title: "third", open: false, level: 3, teamId: null },
  ],
};

let count = 0;
/** A rule with a unique name, so that tests do not share rules. */
const rule = (fn: Parameters<typeof defineRule>[1], options?: Parameters<typeof defineRule>[2]): Rule =>
  defineRule(`rule ${++count}`, fn, options);

async function boot(...list: readonly (string | { readonly name: string })[]) {
  readRules = list;
  const driver = recordStatements(memoryDriver(seed));
  const kernel = createFakeKernel().withEntities(team, doc()).withDriver(driver).given("teams", ["t2"]);
  await kernel.use(rules());
  const ask = async (input: Omit<OperationInput, "entity">, caller: User | null = { id: "ann", teamId: "t1" }) => {
    driver.statements.length = 0;
    try {
      const { records, total } = await kernel.as(caller).operation({ ...input, entity: "doc" });
      return total ?? records.map(({ title }) => title).join(" ");
    } catch (error) {
      if (isKeelsonError(error)) return error.status;
      throw error;
    }
  };
  return { kernel, driver, ask };
}

const list = { kind: "list" } as const;
const read = (id: string) => ({ kind: "read", id }) as const;
const update = (id: string, data: Record<string, unknown>) => ({ kind: "update", id, data }) as const;
const create = (data: Record<string, unknown>) =>
  ({ kind: "create", data: { open: false, level: 0, teamId: null, ...data } }) as const;

describe("a custom rule", () => {
  it("passes on strict true, synchronously or as a promise", async () => {
    for (const answer of [true, Promise.resolve(true)]) {
      const { ask } = await boot(rule(() => answer));
      expect(await ask(list)).toBe("first second third");
      expect(await ask(read("d1"))).toBe("first");
      expect(await ask(create({ title: "x" }))).toBe("x");
    }
  });

  it("denies on everything else, with a warning in the log", async () => {
    const answers: unknown[] = [
      "true",
      1,
      undefined,
      [],
      [{ open: true }],
      {},
      new Date(),
      { opne: true },
      { open: undefined },
    ];
    for (const answer of [...answers, ...answers.map((value) => Promise.resolve(value))]) {
      const { ask, kernel } = await boot(rule(() => answer as never));
      expect(await ask(list)).toBe(403);
      expect(await ask(read("d1"))).toBe(403);
      expect(await ask(create({ title: "x" }), null)).toBe(401);
      expect(kernel.log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(3);
    }
  });

  it("denies on false and null without a log line", async () => {
    for (const answer of [false, null, Promise.resolve(false)]) {
      const { ask, kernel } = await boot(rule(() => answer));
      expect(await ask(list)).toBe(403);
      expect(kernel.log.lines.filter((line) => line.startsWith("warn"))).toEqual([]);
    }
  });

  it("that throws or rejects denies; the production log names it without values", async () => {
    const failing = [
      rule(() => {
        throw new TypeError("value 47114711");
      }),
      rule(async () => {
        throw new TypeError("value 47114711");
      }),
    ];
    for (const one of failing) {
      readRules = [one];
      const logger = recordingLogger();
      const parts = { entities: [team, doc()], driver: memoryDriver(seed), plugins: [rules()], logger };
      const app = createApp({ ...parts, production: true });
      await expect(app.as({ id: "ann" }).doc?.list()).rejects.toMatchObject({ status: 403 });
      const line = logger.lines.find((text) => text.startsWith("warn")) ?? "";
      expect(line).toContain(one.name);
      expect(line).toContain('"entity":"doc","operation":"list"');
      expect(line).toContain("TypeError");
      expect(line).not.toContain("47114711");
      await app.close();
    }
  });

  it("that takes longer than limits.ruleMs denies", async () => {
    readRules = [rule(() => new Promise<boolean>(() => {}))];
    const logger = recordingLogger();
    const options = { driver: memoryDriver(seed), plugins: [rules()], limits: { ruleMs: 5 }, logger };
    const kernel = createApp({ entities: [team, doc()], ...options });
    await expect(kernel.as({ id: "ann" }).doc?.list()).rejects.toMatchObject({ status: 403 });
    expect(logger.lines.join("\n")).toContain("took longer than 5 ms");
    await kernel.close();
  });

  it("receives the caller, the operation, the entity, services and the driver", async () => {
    const seen: unknown[] = [];
    const { ask, kernel } = await boot(
      rule(({ user, isAdmin, operation, entity: { name } = { name: "" }, resolve, driver, request }) => {
        seen.push([user?.id, isAdmin, operation, name, resolve("teams"), driver.name, request]);
        return true;
      }),
    );
    await ask(list);
    await ask(read("d1"), { id: "root", role: "admin" });
    await ask(read("d1"), null);
    expect(seen).toEqual([
      ["ann", false, "list", "doc", ["t2"], kernel.scope().driver.name, undefined],
      ["root", true, "read", "doc", ["t2"], kernel.scope().driver.name, undefined],
      [undefined, false, "read", "doc", ["t2"], kernel.scope().driver.name, undefined],
    ]);
  });
});

describe("a rule that returns a where", () => {
  const ofTeam = (): Rule => rule(({ user }) => (user ? { teamId: user.teamId } : false));

  it("narrows every operation to the records that match", async () => {
    const { ask, driver } = await boot(ofTeam());
    expect(await ask(list)).toBe("first");
    expect(await ask({ kind: "count" })).toBe(1);
    expect(await ask(read("d1"))).toBe("first");
    expect(driver.statements).toEqual(["find doc"]);
    expect(await ask(read("d2"))).toBe(403);
    expect(await ask(update("d2", { title: "taken" }))).toBe(403);
    expect(await ask({ kind: "delete", id: "d2" })).toBe(403);
    expect(await ask(update("d1", { title: "mine" }))).toBe("mine");
    expect(await ask(list, null)).toBe(401);
  });

  it("may go through a relation", async () => {
    const { ask } = await boot(rule(() => ({ team: { name: "Two" } })));
    expect(await ask(list)).toBe("second");
    expect(await ask(read("d1"))).toBe(403);
    expect(await ask(create({ title: "new", teamId: "t2" }))).toBe("new");
    expect(await ask(create({ title: "new", teamId: "t1" }))).toBe(403);
  });

  it("applies to new records, and to the result of an update", async () => {
    const { ask } = await boot(ofTeam());
    expect(await ask(create({ title: "mine", teamId: "t1" }))).toBe("mine");
    expect(await ask(create({ title: "theirs", teamId: "t2" }))).toBe(403);
    expect(await ask(update("d1", { teamId: "t2" }))).toBe(403);
    expect(await ask(read("d1"))).toBe("first");
  });

  it("is combined with others by or", async () => {
    const { ask, kernel } = await boot(
      ofTeam(),
      rule(() => ({ level: { gte: 3 } })),
      "admin",
    );
    expect(await ask(list)).toBe("first third");
    const { decision } = await kernel.as({ id: "ann", teamId: "t1" }).operation({ kind: "list", entity: "doc" });
    expect(decision.predicate).toEqual({ OR: [{ teamId: "t1" }, { level: { gte: 3 } }] });
  });
});

describe("a rule that searches for words", () => {
  it("denies, with a warning in the log, as words of new values are not known yet", async () => {
    const searching: Where = { title: { search: "first" } };
    for (const where of [searching, { NOT: searching }]) {
      const own = [rule(() => where)];
      const page = entity("page", { title: string.searchable() })
        .rules({ create: own, read: own, update: own })
        .build();
      const kernel = createFakeKernel()
        .withEntities(page)
        .withDriver(memoryDriver({ page: [{ id: "p1", title: "first" }] }));
      await kernel.use(rules());
      for (const input of [list, create({ title: "first" }), update("p1", { title: "other" })]) {
        const asked = kernel.as({ id: "ann" }).operation({ ...input, entity: "page" });
        await expect(asked).rejects.toMatchObject({ status: 403 });
      }
      expect(kernel.log.lines.join("\n")).toContain('search on "title" is for queries; use like in rules');
    }
  });
});

describe("a rule that reads the record", () => {
  const open = (): Rule => rule(({ record }) => record?.open === true);

  it("decides on the record of a read, an update and a delete", async () => {
    const { ask } = await boot(open());
    expect(await ask(read("d1"))).toBe("first");
    expect(await ask(read("d2"))).toBe(403);
    expect(await ask(read("missing"))).toBe(404);
    expect(await ask(update("d2", { title: "x" }))).toBe(403);
    expect(await ask(update("d1", { title: "x" }))).toBe("x");
    expect(await ask(update("d1", { open: false }))).toBe(403);
    expect(await ask({ kind: "delete", id: "d2" })).toBe(403);
    expect(await ask({ kind: "delete", id: "d1" })).toBe("");
  });

  it("decides on the values of a create", async () => {
    const { ask } = await boot(open());
    expect(await ask(create({ title: "x", open: true }))).toBe("x");
    expect(await ask(create({ title: "x", open: false }))).toBe(403);
  });

  it("denies lists, with the reason in the response and the log", async () => {
    const looking = [
      open(),
      rule(({ record }) => record === null),
      rule(({ record }) => (record as { open: boolean }).open),
      rule(async ({ record }) => record?.open === true),
    ];
    for (const one of looking) {
      const { kernel } = await boot(one);
      const listing = kernel.as({ id: "ann" }).operation({ kind: "list", entity: "doc" });
      const sentence = `looks at \`record\`, which is null on lists; return a where or pass options.where`;
      await expect(listing).rejects.toMatchObject({
        status: 403,
        details: { reason: `rule "${one.name}" ${sentence}` },
      });
      expect(kernel.log.lines.join("\n")).toContain(`Rule "${one.name}" ${sentence}`);
    }
  });

  it("is not reported when another rule allows the list", async () => {
    const { kernel } = await boot(
      open(),
      rule(() => ({ level: 1 })),
    );
    const { decision } = await kernel.as({ id: "ann" }).operation({ kind: "list", entity: "doc" });
    expect([decision.allowed, decision.reason, decision.predicate]).toEqual([true, undefined, { level: 1 }]);
  });

  it("uses the where it returns for lists, even if it read the record", async () => {
    const { ask } = await boot(rule(({ record }) => (record === null ? { open: true } : record.open === true)));
    expect(await ask(list)).toBe("first");
    expect(await ask(read("d2"))).toBe(403);
  });

  it("is decided by options.where for stored records, without loading one", async () => {
    const fn = vi.fn(({ record }: { readonly record: { readonly open?: unknown } | null }) => record?.open === true);
    const { ask } = await boot(rule(fn, { where: (): Where => ({ open: true }) }));
    expect(await ask(list)).toBe("first");
    expect(await ask({ kind: "count" })).toBe(1);
    expect(await ask(read("d1"))).toBe("first");
    expect(await ask(read("d2"))).toBe(403);
    expect(fn).not.toHaveBeenCalled();
  });

  it("may refuse anonymous callers before it reads the record, without a statement", async () => {
    const { ask, driver } = await boot(rule((context) => context.user !== null && context.record?.open === true));
    expect(await ask(read("d1"))).toBe("first");
    expect(await ask(read("d1"), null)).toBe(401);
    expect(driver.statements).toEqual([]);
  });

  it("is called without the record first, on every operation", async () => {
    const fn = vi.fn(({ record }: { readonly record: unknown }) => record !== null);
    const { ask } = await boot(rule(fn));
    await ask(read("d1"));
    expect(fn).toHaveBeenCalledTimes(2);
    await ask(read("d1"));
    expect(fn).toHaveBeenCalledTimes(4);
  });

  it("decides the same after any earlier requests", async () => {
    const { ask, driver } = await boot(
      rule((context) => context.user?.role === "editor" && context.record?.open === true),
    );
    const stranger = { id: "eve" };
    const answers = async () => [await ask(read("d1"), stranger), await ask(read("missing"), stranger)];
    expect(await answers()).toEqual([403, 403]);
    expect(await ask(read("d1"), { id: "ed", role: "editor" })).toBe("first");
    expect(await answers()).toEqual([403, 403]);
    expect(driver.statements).toEqual([]);
  });

  it("cannot hide that it read the record by catching the error", async () => {
    const { ask } = await boot(
      rule((context) => {
        try {
          return context.record?.open === true;
        } catch {
          return true;
        }
      }),
    );
    expect(await ask(read("d2"))).toBe(403);
  });

  it("may return a where, through relations too, for stored and new records", async () => {
    const wheres: [Where, string[]][] = [
      [{ team: { name: "Two" } }, ["d2"]],
      [{ team: null }, ["d3"]],
      [{ NOT: { team: null } }, ["d1", "d2"]],
      [{ NOT: [{ level: 1 }, { level: 2 }] }, ["d3"]],
      [{ OR: [{ level: 1 }, { team: { members: { gt: 4 } } }] }, ["d1", "d2"]],
      [{ AND: [{ open: false }, { level: { lt: 3 } }] }, ["d2"]],
      [{ team: { docs: { level: 1 } } }, ["d1"]],
    ];
    for (const [where, matching] of wheres) {
      const { ask } = await boot(rule(({ record }) => (record === null ? false : where)));
      for (const row of seed.doc) {
        expect(await ask(read(row.id))).toBe(matching.includes(row.id) ? row.title : 403);
        const { id: _, ...values } = row;
        const isNew = where.team !== undefined && "docs" in ((where.team as object) ?? {});
        if (!isNew) expect(await ask(create(values))).toBe(matching.includes(row.id) ? row.title : 403);
      }
    }
  });

  it("may return a where on records that refer to it", async () => {
    const wheres: [Where, string, "passes" | "denies"][] = [
      [{ docs: { level: 1 } }, "t1", "denies"],
      [{ docs: null }, "none", "passes"],
    ];
    for (const [where, matching, creating] of wheres) {
      const looking = rule(({ record }) => (record === null ? false : where));
      const club = entity("club", { name: string, docs: hasMany((): unknown => page) })
        .rules({ read: [looking], create: [looking] })
        .build();
      const page = entity("page", { level: int, club: belongsTo(() => club) }).build();
      const rows = ["t1", "t2"].map((id, index) => ({ id: `p${index}`, level: index + 1, clubId: id }));
      const clubs = ["t1", "t2", "none"].map((id) => ({ id, name: id }));
      const kernel = createFakeKernel()
        .withEntities(club, page)
        .withDriver(memoryDriver({ club: clubs, page: rows }));
      await kernel.use(rules());
      const ask = (input: Omit<OperationInput, "entity">) =>
        kernel.operation({ ...input, entity: "club" }).then(
          () => "passes",
          () => "denies",
        );
      for (const { id } of clubs) expect(await ask(read(id))).toBe(id === matching ? "passes" : "denies");
      expect(await ask({ kind: "create", data: { name: "new" } })).toBe(creating);
    }
  });

  it("passes next to a where when either does", async () => {
    const { ask } = await boot(
      open(),
      rule(() => ({ level: 3 })),
    );
    expect(await ask(read("d1"))).toBe("first");
    expect(await ask(read("d2"))).toBe(403);
    expect(await ask(read("d3"))).toBe("third");
    expect(await ask(list)).toBe("third");
  });
});

describe("all()", () => {
  it("passes when every part does", async () => {
    const closed = rule(() => ({ open: false }));
    const high = rule(({ record }) => (record === null ? { level: { gt: 2 } } : Number(record.level) > 2));
    const { ask } = await boot(all("authenticated", closed, high));
    expect(await ask(list)).toBe("third");
    expect(await ask(read("d3"))).toBe("third");
    expect(await ask(read("d2"))).toBe(403);
    expect(await ask(read("d3"), null)).toBe(401);
    expect(await ask(create({ title: "x", level: 3, open: true }))).toBe(403);
    expect(await ask(create({ title: "x", level: 3, open: false }))).toBe("x");
  });

  it("can be nested, and may be written as text", async () => {
    const high = rule(() => ({ level: { gt: 1 } }));
    const low = rule(() => ({ level: { lt: 3 } }));
    expect(all("authenticated", all(high, low)).name).toBe(`all(authenticated,all(${high.name},${low.name}))`);
    for (const combined of [
      all("authenticated", all(high, low)),
      `all(authenticated, all(${high.name}, ${low.name}))`,
    ]) {
      const { ask } = await boot(combined);
      expect(await ask(list)).toBe("second");
      expect(await ask(list, null)).toBe(401);
    }
  });

  it("that passes without conditions allows everything", async () => {
    const { ask } = await boot(all("authenticated", "everyone"));
    expect(await ask(list)).toBe("first second third");
  });

  it("needs a rule", () => {
    expect(() => all()).toThrow("at least one rule");
  });
});
