import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  all,
  belongsTo,
  consoleLogger,
  defineRule,
  entity,
  filterReadableFields,
  type Row,
  setLogger,
  string,
  text,
  type User,
} from "../../../src/index.ts";
import { routeSegment } from "../../../src/plugin.ts";
import type { RuleResult } from "../../../src/plugins/rules/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { createHandlerApp } from "./handler-app.ts";

const KEY = "ab".repeat(32);
const ann: User = { id: "ann" };

const WHERES: Readonly<Record<string, RuleResult>> = {
  equal: { secret: "s" },
  listed: { secret: ["s", "t"] },
  different: { secret: { ne: "s" } },
  negated: { NOT: { secret: "s" } },
  nested: { OR: [{ name: "n" }, { AND: [{ secret: { in: ["s"] } }] }] },
  related: { boss: { secret: "s" } },
};
const bySecret = Object.fromEntries(
  Object.entries(WHERES).map(([name, where]) => [name, defineRule(`bySecret.${name}`, () => where)]),
);
const onRecord = defineRule("bySecretOfRecord", ({ record }) => record !== null && { secret: "s" });
const both = all(
  defineRule("bySecretAnyone", () => true),
  bySecret.equal as never,
);
const isEmpty = defineRule("secretIsEmpty", () => ({ secret: null }));
const isThere = defineRule("secretIsThere", () => ({ secret: { null: false } }));

const person = entity("person", {
  name: string,
  secret: text.encrypted().optional(),
  boss: belongsTo((): never => person as never).optional(),
  ...Object.fromEntries(
    Object.entries({ ...bySecret, onRecord, both }).map(([name, rule]) => [
      name,
      string.default("canary").readable(rule),
    ]),
  ),
  empty: string.default("e").readable(isEmpty),
  there: string.default("t").readable(isThere),
}).rules({ read: ["everyone"] });
const guarded = Object.entries({ ...bySecret, onRecord, both }).map(([name, rule]) =>
  entity(`guarded${name}`.toLowerCase(), {
    name: string,
    secret: text.encrypted().optional(),
    boss: belongsTo(() => person as never).optional(),
  }).rules({ read: [rule as never], update: [rule as never], delete: [rule as never], create: [rule as never] }),
);

describe("a rule whose where compares an encrypted field that has no index", () => {
  const log = recordingLogger();
  const app = createHandlerApp({ entities: [person, ...guarded], logger: log, encryption: { key: KEY } });
  const as = (method: string, path: string, body?: unknown) => app.as(ann).request(method, `/api/${path}`, body);
  beforeAll(async () => {
    const system = app.api.asSystem() as unknown as Record<string, { create(data: Row): Promise<Row> }>;
    await system.person?.create({ id: "p", name: "n", secret: "s", bossId: "p" }).catch(() => undefined);
    for (const one of guarded) await system[one.name]?.create({ id: "g", name: "n", secret: "s" });
  });
  afterAll(() => app.close());

  it.each(Object.keys({ ...bySecret, onRecord, both }))(
    "denies, and the field is named only in the log: %s",
    async (rule) => {
      const path = routeSegment(entity(`guarded${rule}`.toLowerCase(), {}).build());
      const before = log.lines.length;
      for (const [method, id, body] of [
        ["GET", ""],
        ["GET", "/g"],
        ["PATCH", "/g", { name: "m" }],
        ["DELETE", "/g"],
        ["POST", "", { name: "m", secret: "s" }],
      ] as const) {
        const answer = await as(method, path + id, body);
        expect([method, answer.status]).toEqual([method, 403]);
        expect(JSON.stringify(answer.body)).not.toContain("secret");
      }
      expect(log.lines.slice(before).join("\n")).toMatch(
        /Rule "[^"]+" returned a where that cannot be used \("secret" is encrypted; only \.encrypted\(\{ searchable: true \}\) can be compared\); it denies/,
      );
    },
  );

  it("keeps a field closed in every response", async () => {
    for (const { status, body } of [await as("GET", "people/p"), await as("GET", "people/p?select=equal,name")]) {
      expect([status, body]).toEqual([status === 400 ? 400 : 200, expect.anything()]);
      expect(JSON.stringify(body)).not.toContain("canary");
    }
    expect((await as("GET", "people")).status).toBe(200);
  });

  it("keeps a field closed in a filter without an app", () => {
    setLogger(log);
    const row = { id: "p", name: "n", secret: "s", bossId: null, equal: "canary", nested: "canary", there: "t" };
    expect(filterReadableFields(row, person, { user: ann })).toEqual({
      id: "p",
      name: "n",
      secret: "s",
      bossId: null,
      there: "t",
    });
    setLogger(consoleLogger);
  });

  it("decides if it only compares with null", async () => {
    expect((await as("GET", "people/p")).body).toMatchObject({ there: "t" });
    expect((await as("GET", "people/p")).body).not.toHaveProperty("empty");
  });
});
