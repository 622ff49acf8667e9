import { afterAll, describe, expect, it } from "vitest";
import {
  type ActionContext,
  action,
  admin,
  all,
  belongsTo,
  type ConfigurationError,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  string,
  type User,
} from "../../../src/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";

// An action's own rules, which replace those of its entity. Inherited rules are the subject of
// test/security/action-matrix.test.ts.

const trusted = defineRule("own rules: trusted", ({ user }) => user?.trusted === true);
const mine = defineRule("own rules: mine", ({ user, record }) => user !== null && record?.ownerId === user.id);
const drafts = defineRule("own rules: drafts", () => ({ title: "draft" }));
// The same name twice: a rule given as an object means that object.
const twinA = defineRule("own rules: twin", () => true);
const twinB = defineRule("own rules: twin", () => false);
/** A rule for all accesses that allows reads; an action is not a read, even though it loads the record first. */
const readable = defineRule("own rules: readable", ({ operation }) => operation === "read" || operation === "list");

const account = entity("account", { name: string });
const run = () => "done";
const on = () => action().onResource();
const note = entity("note", { title: string, owner: belongsTo(() => account) })
  .ownedBy("owner")
  .rules({ read: ["everyone"], create: ["everyone"], update: ["admin"], delete: ["admin"] })
  .actions({
    open: action().rules("everyone").handler(run),
    members: action().rules("authenticated").handler(run),
    nobody: action().rules().handler(run),
    plainNobody: { rules: [], handler: run },
    admins: action().rules(admin).handler(run),
    some: action().rules(trusted, "admin").handler(run),
    both: action().rules(all("authenticated", trusted)).handler(run),
    plain: { rules: [trusted], handler: run },
    owners: action().rules("ownerOrAdmin").handler(run),
    ownersOr: action().get().rules("owner", "admin").handler(run),
    record: action().rules(mine, "admin").handler(run),
    where: action().get().rules(drafts, "admin").handler(run),
    oneOwner: on().rules("owner").handler(run),
    oneMine: on().rules(mine).handler(run),
    oneDraft: on().get().rules(drafts).handler(run),
    oneNobody: on().rules().handler(run),
    twinA: action().rules(twinA).handler(run),
  });
const twin = entity("twin", { title: string })
  .rules({ read: ["everyone"] })
  .actions({ twinB: action().rules(twinB).handler(run) });
const seen = entity("seen", { title: string })
  .rules({ read: [readable], create: [readable], update: [readable], delete: [readable] })
  .actions({
    look: on().get().handler(run),
    publish: on().handler(run),
    remove: on().delete().handler(run),
    listed: action().get().handler(run),
    made: action().handler(run),
    purge: action().delete().handler(run),
  });

const app = createTestApp({
  entities: [account, note, twin, seen],
  driver: memoryDriver({
    account: [
      { id: "ann", name: "Ann" },
      { id: "bob", name: "Bob" },
    ],
    note: [
      { id: "n1", title: "draft", ownerId: "ann" },
      { id: "n2", title: "final", ownerId: "bob" },
    ],
    seen: [{ id: "s1", title: "x" }],
  }),
  logger: noopLogger,
});
afterAll(() => app.close());

const CALLERS: Readonly<Record<string, User | null>> = {
  anonymous: null,
  ann: { id: "ann" },
  trusted: { id: "t", trusted: true },
  admin: { id: "adm", role: "admin" },
};
const statusesOf = async (method: string, path: string): Promise<number[]> => {
  const statuses: number[] = [];
  for (const user of Object.values(CALLERS)) statuses.push((await app.as(user).request(method, path)).status);
  return statuses;
};

describe("rules of an action on the collection", () => {
  it.each<[string, string, number[]]>([
    ["POST", "open", [200, 200, 200, 200]],
    ["POST", "members", [401, 200, 200, 200]],
    ["POST", "nobody", [401, 403, 403, 403]],
    ["POST", "plainNobody", [401, 403, 403, 403]],
    ["POST", "admins", [401, 403, 403, 200]],
    ["POST", "some", [401, 403, 200, 200]],
    ["POST", "both", [401, 403, 200, 403]],
    ["POST", "plain", [401, 403, 200, 403]],
    // A collection has no owner, and no record is about to be created.
    ["POST", "owners", [401, 403, 403, 200]],
    ["GET", "ownersOr", [401, 403, 403, 200]],
    // Rules that need a record refuse every caller.
    ["POST", "record", [401, 403, 403, 200]],
    ["GET", "where", [401, 403, 403, 200]],
    ["POST", "twinA", [200, 200, 200, 200]],
  ])("%s %s: anonymous, ann, a trusted user and an administrator get %j", async (method, name, statuses) => {
    expect(await statusesOf(method, `/api/notes/${name}`)).toEqual(statuses);
  });

  it("are the given objects, also when another rule has the same name", async () => {
    expect(await statusesOf("POST", "/api/twins/twinB")).toEqual([401, 403, 403, 403]);
  });

  it("receive the action's access, which is a read only for GET", async () => {
    const told: unknown[] = [];
    const tells = defineRule("own rules: tells", ({ operation }) => {
      told.push(operation);
      return operation === "read" || operation === "list";
    });
    const own = entity("own", { title: string })
      .rules({ read: ["everyone"] })
      .actions({
        listed: action().get().rules(tells).handler(run),
        made: action().rules(tells).handler(run),
        changed: { access: "update", rules: [tells], handler: run },
        purge: action().delete().rules(tells).handler(run),
      });
    const { as, close } = createTestApp({ entities: [own], rules: [tells], logger: noopLogger });
    const statuses: number[] = [];
    for (const call of ["GET listed", "POST made", "POST changed", "DELETE purge"]) {
      const [method = "", name] = call.split(" ");
      statuses.push((await as({ id: "ann" }).request(method, `/api/owns/${name}`)).status);
    }
    await close();
    expect(statuses).toEqual([200, 403, 403, 403]);
    expect(told).toEqual(["list", "route", "update", "delete"]);
  });

  it("do not apply to the system", async () => {
    expect(await app.api.asSystem().note.nobody()).toBe("done");
    expect(await app.api.asSystem().note.owners()).toBe("done");
  });

  it("have the same effect in the process as over HTTP", async () => {
    await expect(app.api.as({ id: "ann" }).note.admins()).rejects.toMatchObject({ status: 403 });
    expect(await app.api.as({ id: "adm", role: "admin" }).note.admins()).toBe("done");
  });
});

describe("rules of an action on a record", () => {
  it.each<[string, string, number[], number[]]>([
    ["POST", "oneOwner", [401, 200, 403, 403], [401, 403, 403, 403]],
    ["POST", "oneMine", [401, 200, 403, 403], [401, 403, 403, 403]],
    ["GET", "oneDraft", [200, 200, 200, 200], [401, 403, 403, 403]],
    ["POST", "oneNobody", [401, 403, 403, 403], [401, 403, 403, 403]],
  ])("%s %s are checked: ann's draft gives %j, bob's final one %j", async (method, name, draft, final) => {
    expect(await statusesOf(method, `/api/notes/n1/${name}`)).toEqual(draft);
    expect(await statusesOf(method, `/api/notes/n2/${name}`)).toEqual(final);
  });
});

describe("inherited rules", () => {
  it("receive the action's access, however its record is loaded", async () => {
    const statusOf = async (method: string, path: string): Promise<number> =>
      (await app.as({ id: "ann" }).request(method, `/api/seens/${path}`)).status;
    expect(await statusOf("GET", "s1/look")).toBe(200);
    expect(await statusOf("GET", "listed")).toBe(200);
    expect(await statusOf("POST", "s1/publish")).toBe(403);
    expect(await statusOf("DELETE", "s1/remove")).toBe(403);
    expect(await statusOf("POST", "made")).toBe(403);
    expect(await statusOf("DELETE", "purge")).toBe(403);
  });
});

describe("the list of routes", () => {
  it("names the rules that decide: an action's own, or the inherited ones", () => {
    const rulesOf = (name: string): readonly string[] | undefined =>
      app.api.routes.find((route) => route.action === name && route.entity === "note")?.rules;
    expect(rulesOf("some")).toEqual(["own rules: trusted", "admin"]);
    expect(rulesOf("nobody")).toEqual([]);
    expect(app.api.routes.find(({ action: name }) => name === "publish")?.rules).toEqual(["own rules: readable"]);
  });
});

describe("when the app starts", () => {
  const problemsOf = (definition: Parameters<typeof keelson>[0]["entities"][number]): readonly string[] => {
    try {
      keelson({ entities: [account, definition], logger: noopLogger });
      return [];
    } catch (error) {
      return (error as ConfigurationError).problems;
    }
  };

  it("an unknown rule is reported with the action that names it", () => {
    const odd = entity("odd", { title: string }).actions({ a: action().rules("admn").handler(run) });
    expect(problemsOf(odd)).toEqual([expect.stringMatching(/^action "a" of odd: there is no rule "admn".+"admin"/)]);
  });

  it("owner alone is reported on a collection, which needs a caller who owns", () => {
    const odd = entity("odd", { title: string, owner: belongsTo(() => account) })
      .ownedBy("owner")
      .actions({ a: action().rules("owner").handler(run) });
    expect(problemsOf(odd)).toEqual([
      'action "a" of odd: the rule "owner" needs a record; use .onResource(), or another rule',
    ]);
    const orphan = entity("orphan", { title: string }).actions({
      a: action().onResource().rules("owner").handler(run),
    });
    expect(problemsOf(orphan)).toEqual([expect.stringContaining('it needs .ownedBy("…") on the entity')]);
  });
});

describe("a rule that fails", () => {
  it("denies the action, and is logged", async () => {
    const logger = recordingLogger();
    const broken = defineRule("own rules: broken", () => {
      throw new TypeError("inside");
    });
    const thing = entity("thing", { title: string }).actions({
      go: action()
        .rules(broken)
        .handler((context: ActionContext) => context.log.info("never")),
    });
    const failing = createTestApp({ entities: [thing], logger });
    expect((await failing.as({ id: "u" }).request("POST", "/api/things/go")).status).toBe(403);
    expect(logger.lines.join()).toContain('Rule \\"own rules: broken\\" failed'.replaceAll("\\", ""));
    await failing.close();
  });
});
