import { describe, expect, it } from "vitest";
import { all, defineRule, entity, keelson, memoryDriver, noopLogger, string } from "../../src/index.ts";

const logger = noopLogger;
const things = { thing: [{ id: "t1", name: "first" }] };
const thing = entity("thing", { name: string });

describe("keelson()", () => {
  it("accepts rules themselves as default rules, also combined, under any names", async () => {
    const yes = defineRule("default", ({ user }) => user?.id === "ann");
    const no = defineRule("default", () => false);
    const read = async (rule: typeof yes) => {
      const driver = memoryDriver(things);
      const api = keelson({ entities: [thing], driver, logger, defaultRules: { read: [all("authenticated", rule)] } });
      return api
        .as({ id: "ann" })
        .thing.get("t1")
        .then(
          () => "passes",
          () => "denies",
        )
        .finally(() => api.close());
    };
    expect([await read(yes), await read(no)]).toEqual(["passes", "denies"]);
  });

  it("refuses default rules that are not valid", () => {
    const defaultRules = { read: [{ name: "half a rule", evaluate: "no function" }, "nobody knows"] };
    expect(() => keelson({ entities: [thing], driver: memoryDriver(), logger, defaultRules })).toThrow(
      /something in the list is not a rule[\s\S]*there is no rule "half a rule"[\s\S]*there is no rule "nobody knows"/,
    );
  });

  it("allows two apps to use one rule name for different rules", async () => {
    const [yes, no] = [defineRule("tenant", () => true), defineRule("tenant", () => false)];
    const apps = [yes, no].map((rule) =>
      keelson({
        entities: [entity("thing", { name: string }).rules({ read: [rule] })],
        driver: memoryDriver(),
        logger,
      }),
    );
    const outcomes = await Promise.allSettled(apps.map((api) => api.as({ id: "ann" }).thing.list()));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    for (const api of apps) await api.close();
  });

  it("uses the given functions for the time and ids", async () => {
    const now = new Date("2020-02-29T12:00:00Z");
    let count = 0;
    const options = { clock: { now: () => now }, ids: { next: () => `id-${++count}` } };
    const api = keelson({ entities: [thing], driver: memoryDriver(), logger, ...options });
    const { id, createdAt } = await api.asSystem().thing.create({ name: "second" });
    expect([id, createdAt]).toEqual(["id-1", now]);
    await api.close();
  });
});
