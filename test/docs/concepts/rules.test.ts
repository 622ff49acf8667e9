import {
  action,
  admin,
  all,
  authenticated,
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  defineRule,
  entity,
  everyone,
  importAction,
  type Keelson,
  keelson,
  memoryDriver,
  owner,
  ownerOrAdmin,
  type RuleFunction,
  softDeleteAction,
  string,
  type User,
} from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/kernel/index.ts";
import { request, startApp } from "../../support/http.ts";
import { openPage, type Page } from "../../support/page.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, tableBelow } from "./table-below.ts";

let page: Page;
let url = "";
let close: () => Promise<void>;

const call = (token: string | undefined, method: string, path: string, body?: unknown) =>
  request(url, method, `/api${path}`, { token, body });

beforeAll(async () => {
  page = openPage("concepts/rules");
  ({ url, close } = await startApp((await page.load<{ api: Keelson }>("tasks.ts")).api));
});
afterAll(async () => {
  await close();
  page.remove();
});

describe("docs/concepts/rules.md: the tables", () => {
  it("show real responses", async () => {
    const rows = tableBelow(page.text, "Rules");
    expect(rows.length).toBeGreaterThan(9);
    for (const [caller, line, answer] of rows) {
      const [, method, path] = /^`(\w+) (.*)`$/.exec(line as string) as unknown as [string, string, string];
      const body = method === "PATCH" ? { title: "New" } : undefined;
      const found = await call(caller === "anonymous" ? undefined : caller, method, path, body);
      const [status, ids] = (answer as string).split(", ", 2);
      expect(found.status, `${caller} ${line}`).toBe(Number(status));
      if (ids !== undefined) {
        const listed = [...(answer as string).matchAll(/t\d/g)].map(([id]) => id);
        expect(found.json.map(({ id }: { id: string }) => id)).toEqual(listed);
      }
    }
  });

  it("list every built-in rule, every argument of a rule, and the actions' rules", () => {
    const builtIn = [everyone, authenticated, owner, admin, ownerOrAdmin].map(({ name }) => name);
    expect(columnOf(page.text, "Lists of rules")).toEqual(builtIn);
    const given = page.text.slice(page.text.indexOf("What it is given:"));
    const names = [...given.slice(0, given.indexOf("\n\nA definition")).matchAll(/^\| `(\w+)` /gm)].map(
      ([, name]) => name,
    );
    expect(names.sort()).toEqual(membersOf("src/plugins/rules/rule.ts", "RuleContext").sort());
    expect(DEFAULT_LIMITS.ruleMs).toBe(1_000);
  });

  it("list the rules that actions inherit", () => {
    const thing = entity("thing", { name: string, deletedAt: string.optional() })
      .rules({ read: ["everyone"], create: ["authenticated"], update: ["admin"], delete: [] })
      .actions({
        look: action()
          .get()
          .handler(() => 1),
        drop: action()
          .delete()
          .handler(() => 1),
        change: action()
          .onResource()
          .handler(() => 1),
        make: action().handler(() => 1),
        bulkUpdate: bulkUpdateAction,
        bulkDelete: bulkDeleteAction,
        clone: cloneAction,
        import: importAction,
      });
    const app = keelson({ entities: [thing], driver: memoryDriver() });
    const rules = Object.fromEntries(app.routes.map(({ action: name, rules: list }) => [name, list[0]]));
    expect(rules).toMatchObject({ look: "everyone", change: "admin", make: "authenticated", bulkUpdate: "admin" });
    expect(rules).toMatchObject({ clone: "authenticated", import: "authenticated" });
    expect([rules.drop, rules.bulkDelete]).toEqual([undefined, undefined]);
    expect(softDeleteAction().definition).toMatchObject({ method: "DELETE" });
  });
});

describe("docs/concepts/rules.md: the caller", () => {
  const thing = entity("thing", { name: string }).rules({ read: ["authenticated"] });
  const answerTo = async (getUser: () => unknown) => {
    const app = keelson({ entities: [thing], driver: memoryDriver(), getUser: getUser as () => User });
    const running = await startApp(app);
    const { status } = await request(running.url, "GET", "/api/things");
    await running.close();
    return status;
  };

  it("is anonymous without a user, 401 with an invalid id, 503 when it fails", async () => {
    expect(await answerTo(() => null)).toBe(401);
    expect(await answerTo(() => ({ id: 7 }))).toBe(401);
    expect(await answerTo(() => ({ id: "" }))).toBe(401);
    expect(await answerTo(() => Promise.reject(new Error("away")))).toBe(503);
    expect(await answerTo(() => ({ id: "ann" }))).toBe(200);
  });
});

describe("docs/concepts/rules.md: custom rules", () => {
  const seed = {
    thing: [
      { id: "a", name: "A" },
      { id: "b", name: "B" },
    ],
  };
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
  let n = 0;
  const appOf = (fn: RuleFunction, options = {}, limits = {}) => {
    const rule = defineRule(`concept-${n++}`, fn, options);
    const thing = entity("thing", { name: string }).rules({ read: [rule], create: [rule], update: [rule] });
    lines.length = 0;
    return keelson({ entities: [thing], driver: memoryDriver(seed), logger, limits });
  };
  const seenBy = async (fn: RuleFunction, options = {}, limits = {}) => {
    const app = appOf(fn, options, limits);
    const seen = await app
      .as({ id: "ann" })
      .thing.list()
      .then(
        ({ data }) => data.map(({ id }) => id).join(""),
        ({ status }) => status,
      );
    await app.close();
    return [seen, lines.length > 0];
  };

  it("interpret their results as the page says", async () => {
    expect(await seenBy(() => true)).toEqual(["ab", false]);
    expect(await seenBy(() => ({ name: "A" }))).toEqual(["a", false]);
    for (const no of [false, null]) expect(await seenBy(() => no)).toEqual([403, false]);
    for (const wrong of [undefined, 1, "yes", {}, { nam: "A" }, { name: undefined }, { AND: [] }])
      expect(await seenBy(() => wrong as never), JSON.stringify(wrong)).toEqual([403, true]);
    expect(
      await seenBy(() => {
        throw new TypeError("no");
      }),
    ).toEqual([403, true]);
    expect(await seenBy(() => new Promise(() => {}), {}, { ruleMs: 20 })).toEqual([403, true]);
  });

  it("read a record if there is one, and need a where for lists", async () => {
    const looks: RuleFunction = ({ record }) => record?.name === "A";
    expect(await seenBy(looks)).toEqual([403, true]);
    const where = () => ({ name: "A" });
    expect(await seenBy(looks, { where })).toEqual(["a", false]);
    const app = appOf(looks);
    const ann = app.as({ id: "ann" }).thing;
    expect(await ann.get("a")).toMatchObject({ id: "a" });
    await expect(ann.get("b")).rejects.toMatchObject({ status: 403 });
    await expect(ann.get("none")).rejects.toMatchObject({ status: 404 });
    await expect(ann.create({ name: "B" })).rejects.toMatchObject({ status: 403 });
    expect(await ann.create({ name: "A" })).toMatchObject({ name: "A" });
    // It would be out of reach afterwards.
    await expect(ann.update("a", { name: "Z" })).rejects.toMatchObject({ status: 403 });
    expect(await ann.get("a")).toMatchObject({ name: "A" });
    await app.close();
  });

  it("are found by name, unless two share it or it is not defined", () => {
    const first = defineRule("concept-shared", () => true);
    defineRule("concept-shared", () => false);
    const thing = (rule: unknown) => entity("thing", {}).rules({ read: [rule as string] });
    const start =
      (rule: unknown, rules: readonly (typeof first)[] = []) =>
      () =>
        keelson({ entities: [thing(rule)], driver: memoryDriver(), rules });
    expect(start("concept-shared")).toThrow(/several rules/);
    expect(start("concept-shared", [first])).not.toThrow();
    expect(start(first)).not.toThrow();
    expect(start("concept-shaerd")).toThrow(/no rule "concept-shaerd"/);
    expect(start("owner")).toThrow(/needs .ownedBy/);
    expect(start(defineRule("concept-check", () => true, { check: () => "it needs a mast" }))).toThrow(/needs a mast/);
  });

  it("are combined: any of a list, all of all()", async () => {
    const yes = defineRule("concept-yes", () => true);
    const no = defineRule("concept-no", () => false);
    const onlyA = defineRule("concept-a", () => ({ id: "a" }));
    const list = async (rules: readonly (typeof yes | ReturnType<typeof all>)[]) => {
      const thing = entity("thing", { name: string }).rules({ read: rules });
      const app = keelson({ entities: [thing], driver: memoryDriver(seed) });
      const found = await app
        .as({ id: "root", role: "admin" })
        .thing.list()
        .catch(() => ({ data: [] }));
      await app.close();
      return found.data.length;
    };
    expect(await Promise.all([list([no, yes]), list([all(no, yes)]), list([all(yes, onlyA)]), list([])])).toEqual([
      2, 0, 1, 0,
    ]);
  });
});

describe("docs/concepts/rules.md: the caller's view", () => {
  const some = defineRule("concept-some", () => ({ name: "A" }));
  const seed = [
    { id: "a", name: "A" },
    { id: "b", name: "B" },
  ];
  const fields = { name: string };
  const nothing = entity("nothing", fields).rules({ read: ["admin"] });
  const hidden = entity("hidden", fields)
    .rules({ read: ["admin"], create: ["admin"] })
    .hideForbidden();
  const partly = entity("partly", fields).rules({ read: [some] });
  const partlyHidden = entity("partlyHidden", fields)
    .rules({ read: [some] })
    .hideForbidden();
  const open = entity("open", fields).rules({ read: ["everyone"] });
  let host: { url: string; close(): Promise<void> };

  beforeAll(async () => {
    host = await startApp(
      keelson({
        entities: [nothing, hidden, partly, partlyHidden, open],
        driver: memoryDriver({ nothing: seed, hidden: seed, partly: seed, partlyHidden: seed, open: seed }),
        getUser: ({ headers }) => (headers.get("authorization") ? { id: "ann" } : null),
      }),
    );
  });
  afterAll(async () => host.close());

  const statuses = async (plural: string, path: string) => {
    const answers = [undefined, "ann"].map((token) => request(host.url, "GET", `/api/${plural}${path}`, { token }));
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  it("matches the table", async () => {
    expect(await statuses("nothings", "/a")).toEqual([401, 403]);
    expect(await statuses("nothings", "")).toEqual([401, 403]);
    expect(await statuses("hiddens", "/a")).toEqual([401, 404]);
    expect(await statuses("hiddens", "")).toEqual([401, 403]);
    expect(await statuses("partlies", "/b")).toEqual([401, 403]);
    expect(await statuses("partly-hiddens", "/b")).toEqual([401, 404]);
    expect(await statuses("partlies", "/none")).toEqual([401, 404]);
    expect(await statuses("opens", "/none")).toEqual([404, 404]);
    expect(await statuses("partlies", "")).toEqual([200, 200]);
    const listed = await request(host.url, "GET", "/api/partlies");
    expect(listed.json).toHaveLength(1);
    const made = await request(host.url, "POST", "/api/hiddens", { token: "ann", body: { name: "C" } });
    expect(made.status).toBe(403);
  });
});

describe("docs/concepts/rules.md: every surface", () => {
  it("applies rules to includes, filters through relations and references", async () => {
    const asBob = await call("bob", "GET", "/tasks?include=author");
    expect(asBob.json.map(({ author }: { author: { id: string } }) => author.id)).toEqual(["ann", "ann"]);
    const asRoot = await call("root", "GET", "/tasks?include=author");
    expect(asRoot.json.map(({ author }: { author: unknown }) => author)).toEqual([null, null, null]);
    expect((await call("root", "GET", "/tasks?author.name=Ann")).json).toEqual([]); // the owner of a member is root itself
    expect((await call("ann", "GET", "/tasks?author.name=Ann")).json).toHaveLength(2);
    expect((await call("eve", "GET", "/tasks?author.name=Ann")).json).toEqual([]);
  });

  it("sets the owner to the caller, and does not change it", async () => {
    const made = await call("ann", "POST", "/tasks", { title: "Sail", team: "red" });
    expect(made.json.authorId).toBe("ann");
    const path = `/tasks/${made.json.id}`;
    expect((await call("ann", "POST", "/tasks", { title: "Sail", team: "red", authorId: "eve" })).status).toBe(403);
    expect((await call("ann", "PATCH", path, { authorId: "eve" })).status).toBe(403);
    expect((await call("ann", "PATCH", path, { authorId: "ann", title: "Jib" })).status).toBe(200);
  });

  it("returns only the id to callers who may write but not read a record", async () => {
    const note = entity("note", { text: string }).rules({ create: ["everyone"] });
    const linked = entity("linked", { note: belongsTo(() => note) }).rules({
      create: ["everyone"],
      read: ["everyone"],
    });
    const app = keelson({ entities: [note, linked], driver: memoryDriver() });
    const ann = app.as({ id: "ann" });
    const made = await ann.note.create({ text: "x" });
    expect(Object.keys(made)).toEqual(["id"]);
    for (const noteId of [made.id, "none"])
      await expect(ann.linked.create({ noteId })).rejects.toMatchObject({
        status: 400,
        issues: [{ path: ["noteId"], message: "does not exist" }],
      });
    const hidden = ann.linked.list({ where: { note: { text: "x" } } });
    await expect(hidden).rejects.toMatchObject({ status: 400, message: 'linked has no field "note".' });
    expect((await app.asSystem().note.list()).data).toHaveLength(1);
    await app.close();
  });
});
