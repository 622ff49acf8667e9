import { describe, expect, it, onTestFinished } from "vitest";
import { type Finding, LINT_RULES } from "../../src/cli/lint/lint-rules.ts";
import { openProject } from "./project.ts";

async function lint(entities: string, options = "", ...words: string[]) {
  const project = await openProject({
    "keelson.config.ts": `
      import { action, belongsTo, bool, createPlugin, defineConfig, defineRule, endpoint, entity, enums, hasMany, httpService, string } from "keelson";
      ${entities}
      export default defineConfig({ entities: Object.values(all), encryption: { key: "5eed".repeat(16) }, ${options} });
    `,
  });
  onTestFinished(() => project.remove());
  return { ...(await project.run("lint", ...words)), project };
}

const RULES = '{ read: ["authenticated"], create: ["authenticated"], update: ["admin"], delete: ["admin"] }';

/** A relation to records of another service. */
const remote = (read: string) => `
  const plan = entity("plan", { name: string }).rules({ read: ["${read}"] });
  const all = { note: entity("note", { title: string, plan: belongsTo(() => plan).remote("billing").optional() }).rules(${RULES}) };`;
const REMOTE = remote("authenticated");

/** Definitions with a finding of a rule, with its place; and the corrected ones. */
const CASES: Readonly<
  Record<string, readonly [found: string, at: string, right: string, options?: readonly [found: string, right: string]]>
> = {
  "entity-without-rules": [
    'const all = { note: entity("note", { title: string }) };',
    "note",
    `const all = { note: entity("note", { title: string }).rules(${RULES}), inner: entity("inner", { title: string }).internal() };`,
  ],
  "open-protected-entity": [
    'const all = { note: entity("note", { iban: string.encrypted() }).rules({ read: ["everyone"], create: ["admin"] }) };',
    "note.iban",
    'const all = { note: entity("note", { iban: string.encrypted().readable("admin") }).rules({ read: ["everyone"], create: ["admin"] }) };',
  ],
  "anonymous-write": [
    'const all = { note: entity("note", { title: string }).rules({ read: ["everyone"], delete: ["everyone"] }) };',
    "note.rules.delete",
    'const all = { note: entity("note", { title: string }).rules({ read: ["everyone"], delete: ["admin"] }) };',
  ],
  "writable-admin-flag": [
    'const all = { user: entity("user", { role: enums("person", "admin") }).ownedBy("id").rules({ read: ["owner"], update: ["owner"] }) };',
    "user.role",
    'const all = { user: entity("user", { role: enums("person", "admin").writable("admin") }).ownedBy("id").rules({ read: ["owner"], update: ["ownerOrAdmin"] }) };',
  ],
  "route-without-rules": [
    `const all = { note: entity("note", { title: string }).rules(${RULES}).actions({ shut: action().rules().handler(() => 1) }) };`,
    "POST /api/notes/shut",
    `const all = { note: entity("note", { title: string }).rules(${RULES}).actions({ shut: action().rules("admin").handler(() => 1) }) };`,
  ],
  "stricter-include": [
    `const user = entity("user", { name: string }).rules({ read: ["admin"] });
     const all = { user, note: entity("note", { title: string, author: belongsTo(() => user) }).rules(${RULES}) };`,
    "note.author",
    `const user = entity("user", { name: string }).rules(${RULES});
     const all = { user, note: entity("note", { title: string, author: belongsTo(() => user) }).rules(${RULES}) };`,
  ],
  "owners-of-several-entities": [
    `const user = entity("user", { name: string }).ownedBy("id").rules(${RULES});
     const agent = entity("agent", { name: string }).rules(${RULES});
     const all = { user, agent, ticket: entity("ticket", { title: string, agent: belongsTo(() => agent) }).ownedBy("agent").rules(${RULES}) };`,
    "ticket",
    `const user = entity("user", { name: string }).ownedBy("id").rules(${RULES});
     const all = { user, ticket: entity("ticket", { title: string, user: belongsTo(() => user) }).ownedBy("user").rules(${RULES}) };`,
  ],
  "service-without-timeout": [
    REMOTE,
    "billing",
    REMOTE,
    [
      'services: { billing: () => httpService({ baseUrl: "http://billing.internal" }) }',
      'services: { billing: () => httpService({ baseUrl: "http://billing.internal", timeout: 1_000 }) }',
    ],
  ],
};

describe("keelson lint", () => {
  it("has a case here for every rule, whose id is the name of its file", () => {
    expect(LINT_RULES.map(({ id }) => id).sort()).toEqual(Object.keys(CASES).sort());
    for (const { title, why, fix } of LINT_RULES)
      for (const text of [title, why, fix]) expect(text.length).toBeGreaterThan(10);
  });

  it.each(Object.entries(CASES))(
    "finds %s, and nothing once it is corrected",
    async (id, [wrong, at, right, [before, after] = ["", ""]]) => {
      const { level } = LINT_RULES.find((rule) => rule.id === id) as { level: string };
      const { code, out, project } = await lint(wrong, before, "--json");
      const found = (JSON.parse(out) as Finding[]).filter((finding) => finding.id === id);
      expect(found).toEqual([{ id, level, at, what: expect.any(String) }]);
      expect(code).toBe(level === "warning" ? 1 : 0);
      expect(await project.list()).toEqual(["keelson.config.ts"]);
      const { out: cleared } = await lint(right, after, "--json");
      expect((JSON.parse(cleared) as Finding[]).filter((finding) => finding.id === id)).toEqual([]);
    },
  );

  it("reports place, reason, and what to write instead", async () => {
    const { code, out } = await lint('const all = { note: entity("note", { title: string }) };');
    expect(code).toBe(1);
    expect(out).toContain("warning  Entity without rules  entity-without-rules");
    expect(out).toContain("  note: no caller may create, read, update or delete it");
    expect(out).toContain("Add .rules({");
    expect(await lint(`const all = { note: entity("note", { title: string }).rules(${RULES}) };`)).toMatchObject({
      code: 0,
      out: "Nothing found.\n",
    });
  });

  it("names the callers that may change a record with protected fields", async () => {
    const wrong =
      'const all = { note: entity("note", { pin: string.password() }).rules({ read: ["everyone"], update: ["everyone"] }) };';
    const { out } = await lint(wrong);
    expect(out).toContain("note.rules.update: everybody may update it, and it has protected fields (pin)");
  });

  it("finds an endpoint of a plugin that no caller may use", async () => {
    const options =
      'plugins: [createPlugin({ id: "p", endpoints: { p: endpoint("/p", { method: "GET", handler: () => 1 }) } })]';
    const { code, out } = await lint("const all = {};", options);
    expect(code).toBe(1);
    expect(out).toContain("GET /p: no caller may call it (plugin p)");
  });

  it("leaves open what a rule of the app's own allows", async () => {
    const { out } = await lint(`
      const user = entity("user", { name: string }).rules({ read: ["admin"] });
      const isShared = defineRule("isShared", () => ({ title: "shared" }));
      const all = { user, note: entity("note", { title: string, author: belongsTo(() => user) }).rules({ read: [isShared, "admin"] }) };`);
    expect(out).toContain("anonymous, user, owner may be allowed to read note, and not every user it leads to");
  });

  it("includes remote entities, and their hidden fields", async () => {
    const services = 'services: { billing: () => { throw new RangeError("no such host"); } }';
    const { code, out } = await lint(remote("admin"), services, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([
      {
        id: "stricter-include",
        level: "note",
        at: "note.plan",
        what: "user, owner may read note, and not every plan it leads to",
      },
    ]);
    const closed = await lint(remote("admin").replace('.rules({ read: ["admin"] })', ""), services);
    expect(closed.code).toBe(1);
    expect(closed.out).toContain("plan: no caller may read it: includes are null");
  });

  it("reads a service's own settings, without calling or awaiting it", async () => {
    const own = (service: string) => lint(REMOTE, `services: { billing: () => (${service}) }`, "--json");
    const asked = 'fetchByIds() { throw new RangeError("asked"); }';
    expect(JSON.parse((await own(`{ timeout: 500, ${asked} }`)).out)).toEqual([]);
    for (const timeout of ["Infinity", "0", '"500"', "undefined"])
      expect(JSON.parse((await own(`{ timeout: ${timeout}, ${asked} }`)).out)).toMatchObject([{ at: "billing" }]);
    expect(JSON.parse((await own("new Promise(() => {})")).out)).toEqual([]);
  });
});
