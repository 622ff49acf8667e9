import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  bool,
  createEntityStep,
  datetime,
  defineRule,
  deleteEntityStep,
  type EntityLike,
  embedded,
  entity,
  type StepContext,
  step,
  string,
  updateEntityStep,
  withOptions,
} from "../../../src/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { workflowApp } from "../../support/workflows/workflow-app.ts";

// A write is not a way to read (docs/adr/0010): a run's result is masked by the rules of its reader.

const ASYNC = { prefer: "respond-async" };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function started(entities: readonly EntityLike[]) {
  const { file, remove } = await freshSqliteFile();
  const app = await workflowApp({ driver: embedded({ file }), entities });
  cleanups.push(remove, app.close);
  return app;
}
type App = Awaited<ReturnType<typeof started>>;

/** A run's response to its starter, and the report of another run. */
async function shown(app: App, path: string, body: object = {}, id = "ann") {
  const answer = await app.as({ id }).request("POST", path, body);
  return { answer, ...(await shownOnce(app, path, body, id)) };
}

/** The report of a run. */
async function shownOnce({ as }: App, path: string, body: object = {}, id = "ann") {
  const ann = as({ id });
  const accepted = await ann.request("POST", path, body, ASYNC);
  const { location = "" } = accepted.body as { location?: string };
  const report = async () => (await ann.request("GET", location)).body as { status: string; result?: unknown };
  await expect.poll(async () => (await report()).status).toBe("completed");
  return { accepted, result: (await report()).result, location };
}

const asSystem = { asSystem: true };
const person = entity("person", { name: string }).rules({ read: ["everyone"], create: ["everyone"] });
const order = entity("order", { item: string, buyer: belongsTo(() => person) })
  .ownedBy("buyer")
  .rules({ read: ["owner"], create: ["everyone"] })
  .actions({
    touch: action()
      .rules("authenticated")
      .workflow([withOptions(updateEntityStep("order", { id: "o1" }, { item: "touched" }), asSystem)]),
    deep: action()
      .rules("authenticated")
      .workflow([
        step("load", ({ driver }) => driver.findOne("order", { id: "o1" })),
        step("again", ({ results }) => ({ list: [{ one: { ...(results.load as object) } }], at: new Date(0) })),
      ]),
  });
const memo = entity("memo", { text: string })
  .rules({ read: ["admin"], create: ["authenticated"] })
  .actions({
    leave: action()
      .rules("authenticated")
      .workflow([createEntityStep("memo", { text: "private" })]),
    told: action()
      .rules("authenticated")
      .output({ id: string, extra: string.optional() })
      .workflow([step("told", () => ({ id: "t", extra: null, internal: "not declared" }))]),
    odd: action()
      .rules("authenticated")
      .output({ id: string })
      .workflow([step("odd", () => ({ id: 5 }))]),
    anyone: action()
      .rules("everyone")
      .input({ text: string })
      .workflow([step("said", ({ input }: StepContext<{ text: string }>) => ({ said: input.text }))]),
  });

async function seeded() {
  const app = await started([person, order, memo]);
  const system = app.api.asSystem();
  const all = system as unknown as Record<string, { create(data: object): Promise<unknown> }>;
  for (const id of ["ann", "bob"]) await all.person?.create({ id, name: id });
  await all.order?.create({ id: "o1", item: "tea", buyerId: "bob" });
  return app;
}

describe("the result of a workflow", () => {
  it("contains only the id of a record that the caller may not read", async () => {
    const app = await seeded();
    const { answer, result } = await shown(app, "/api/memos/leave");
    expect([answer.status, answer.body]).toEqual([200, { id: expect.any(String) }]);
    expect(result).toEqual({ id: expect.any(String) });
  });

  it("is checked for each record's owner", async () => {
    const app = await seeded();
    const anns = await shown(app, "/api/orders/touch");
    expect([anns.answer.body, anns.result]).toEqual([{ id: "o1" }, { id: "o1" }]);
    const bobs = await shown(app, "/api/orders/touch", {}, "bob");
    expect(bobs.answer.body).toMatchObject({ id: "o1", item: "touched" });
    expect(bobs.result).toMatchObject({ id: "o1", item: "touched" });
  });

  it("is searched for records at any depth", async () => {
    const app = await seeded();
    const at = new Date(0).toISOString();
    const { answer, result } = await shown(app, "/api/orders/deep");
    expect([answer.body, result]).toEqual([
      { list: [{ one: { id: "o1" } }], at },
      { list: [{ one: { id: "o1" } }], at },
    ]);
    const client = app.api.as({ id: "ann" }) as unknown as { order: { deep(): Promise<unknown> } };
    expect(await client.order.deep()).toEqual({ list: [{ one: { id: "o1" } }], at: new Date(0) });
  });

  it.each([true, false])("is checked for each record, where deleted ones are hidden: %s", async (hasFieldRule) => {
    const sees = defineRule("sees", ({ record, user }) => record?.keeper === user?.id);
    const open = defineRule("open", ({ record }) => record?.keeper !== "zoe", {
      where: () => ({ keeper: { ne: "zoe" } }),
    });
    const extra = hasFieldRule ? string.optional().readable(open) : string.optional();
    const diary = entity("diary", { text: string, extra, keeper: string, deletedAt: datetime.optional().readonly() })
      .softDelete()
      .rules({ read: [sees], create: ["everyone"] })
      .actions({
        load: action()
          .rules("authenticated")
          .workflow([step("load", ({ driver }) => driver.findOne("diary", { id: "n1" }))]),
        remove: action()
          .rules("authenticated")
          .workflow([
            step("load", ({ driver }) => driver.findOne("diary", { id: "n2" })),
            withOptions(deleteEntityStep("diary", { id: "n2" }), asSystem),
            step("result", ({ results }) => results.load),
          ]),
      });
    const app = await started([diary]);
    for (const id of ["n1", "n2"]) await app.api.driver.create("diary", { id, text: "secret", keeper: "bob" });
    for (const [path, id] of [
      ["load", "n1"],
      ["remove", "n2"],
    ]) {
      expect((await app.as({ id: "ann" }).request("GET", `/api/diaries/${id}`)).status).toBe(403);
      expect((await app.as({ id: "ann" }).request("POST", `/api/diaries/${path}`, {})).body).toEqual({ id });
    }
  });

  it("is masked in a report by the rules of its reader", async () => {
    const app = await seeded();
    const { location } = await shown(app, "/api/memos/leave");
    const admin = app.as({ id: "root", role: "admin" });
    expect((await admin.request("GET", location)).body).toMatchObject({ result: { text: "private" } });
  });

  it("is limited to a declared output in a report too", async () => {
    const app = await seeded();
    const { answer, accepted, result } = await shown(app, "/api/memos/told");
    expect([answer.status, answer.body]).toEqual([200, { id: "t", extra: null }]);
    expect([accepted.status, accepted.body]).toMatchObject([202, { status: "running" }]);
    expect(result).toEqual({ id: "t", extra: null });
  });

  it("is missing in a report if it does not match the action's declared output", async () => {
    const app = await seeded();
    const ann = app.as({ id: "ann" });
    expect((await ann.request("POST", "/api/memos/odd", {})).status).toBe(500);
    const { location } = (await ann.request("POST", "/api/memos/odd", {}, ASYNC)).body as { location: string };
    const report = async () => (await ann.request("GET", location)).body;
    await expect.poll(report).toMatchObject({ status: "completed" });
    expect(await report()).not.toHaveProperty("result");
  });
});

it("an anonymous caller waits for the response: reports are for the run's starter", async () => {
  const app = await seeded();
  const { status, body, headers } = await app.as(null).request("POST", "/api/memos/anyone", { text: "hello" }, ASYNC);
  expect([status, body, headers.get("location")]).toEqual([200, { said: "hello" }, null]);
});

const sheet = entity("sheet", { title: string, secret: string, open: bool.default(false) })
  .rules({ read: [defineRule("sheetOpen", () => ({ open: true }))], update: ["authenticated"] })
  .actions({
    rename: action()
      .onResource()
      .workflow([updateEntityStep("sheet", { id: "s" }, { title: "renamed" })]),
  });

describe("the report of a run whose record was opened to its reader later", () => {
  it("contains none of the earlier values", async () => {
    const app = await started([sheet]);
    const now = { createdAt: new Date(), updatedAt: new Date() };
    await app.api.driver.create("sheet", { id: "s", title: "t", secret: "HIDDEN", open: false, ...now });
    const { result, location } = await shown(app, "/api/sheets/s/rename");
    expect(result).toEqual({ id: "s" });
    await app.api.driver.update("sheet", { id: "s" }, { secret: "scrubbed", open: true });
    const { body } = await app.as({ id: "ann" }).request("GET", location);
    expect(body).toMatchObject({ result: { id: "s" } });
    expect(JSON.stringify(body)).not.toContain("HIDDEN");
  });
});

const ofHolder = defineRule("ofHolder", ({ user }) => ({ holder: user?.id ?? "" }));
const held = (give: (record: Record<string, unknown>, user: string) => object, select?: readonly string[]) =>
  action()
    .rules("authenticated")
    .workflow([
      step("load", ({ driver }) => driver.findOne("key", { id: "k" }, { select })),
      step("give", ({ results, user }) => give(results.load as Record<string, unknown>, String(user?.id))),
    ]);
const key = entity("key", { holder: string, code: string.readable(ofHolder) })
  .rules({ read: ["everyone"] })
  .actions({
    same: held((record) => ({ ...record })),
    claim: held((record, holder) => ({ ...record, holder })),
    add: held((record, holder) => ({ ...record, holder }), ["id", "code"]),
    lose: held((record) => ({ ...record, holder: "nobody" })),
  });

describe("the report of a run with a record whose field depends on it", () => {
  async function keyed() {
    const app = await started([key]);
    const now = { createdAt: new Date(), updatedAt: new Date() };
    await app.api.driver.create("key", { id: "k", holder: "bob", code: "CODE", ...now });
    return app;
  }

  it.each(["same", "claim", "add", "lose"])(
    "shows the field by the values that were read, not by a step's result: %s",
    async (name) => {
      const app = await keyed();
      const { result } = await shown(app, `/api/keys/${name}`);
      expect(result).toMatchObject({ id: "k" });
      expect(result).not.toHaveProperty("code");
      const theirs = await shown(app, `/api/keys/${name}`, {}, "bob");
      expect((theirs.result as { code?: string }).code).toBe(name === "add" ? undefined : "CODE");
    },
  );

  it("hides the field if an earlier version has stored only the values", async () => {
    const app = await keyed();
    const { result, location } = await shown(app, "/api/keys/same", {}, "bob");
    expect(result).toMatchObject({ code: "CODE" });
    const id = `${location.split("/").at(-1)}:1:execute`;
    const stored = await app.api.driver.findOne("workflowStep", { id });
    const { value } = JSON.parse(String(stored?.result)) as { value: { $record: string; value: object } };
    const earlier = JSON.stringify({ value: { $record: value.$record, value: value.value } });
    await app.api.driver.update("workflowStep", { id }, { result: earlier });
    const { body } = await app.as({ id: "bob" }).request("GET", location);
    expect((body as { result: object }).result).toMatchObject({ id: "k", holder: "bob" });
    expect((body as { result: object }).result).not.toHaveProperty("code");
  });
});

type Given = Record<string, unknown>;
const copies: Readonly<Record<string, (record: Given, user: string) => object>> = {
  made: (record) => ({ toJSON: () => ({ ...record }) }),
  got: (record) => ({
    get item() {
      return { ...record };
    },
  }),
  claimed: (record, by) => ({ ...record, by }),
  flipping: (record, by) => {
    let times = 0;
    return Object.defineProperty({ ...record }, "by", {
      enumerable: true,
      get: () => (times++ === 0 ? record.by : by),
    });
  },
  streaming: (record) => [{ record, [Symbol.asyncIterator]: () => undefined }],
};
const paper = entity("paper", { title: string, by: string })
  .rules({ read: [defineRule("byCaller", ({ user }) => ({ by: user?.id ?? "" }))] })
  .actions({
    ...Object.fromEntries(
      Object.entries(copies).map(([name, make]) => [
        name,
        action()
          .rules("authenticated")
          .workflow([
            step("give", async ({ driver, user }) =>
              make((await driver.findOne("paper", { id: "p" })) as Given, String(user?.id)),
            ),
          ]),
      ]),
    ),
    took: action()
      .rules("authenticated")
      .workflow([
        step("load", ({ driver }) => driver.findOne("paper", { id: "p" })),
        step("drop", async ({ driver, results }) => {
          await driver.delete("paper", { id: "p" });
          return { ...(results.load as object) };
        }),
      ]),
  });

describe("a step's copy of a record", () => {
  async function papers() {
    const app = await started([paper]);
    const now = { createdAt: new Date(), updatedAt: new Date() };
    await app.api.driver.create("paper", { id: "p", title: "HIDDEN", by: "bob", ...now });
    return app;
  }

  it.each(Object.keys(copies))("reveals nothing of a record that the caller may not read: %s", async (name) => {
    const app = await papers();
    const { answer, result } = await shown(app, `/api/papers/${name}`);
    expect(answer.status).toBe(200);
    expect(JSON.stringify([answer.body, result])).not.toContain("HIDDEN");
    const theirs = await app.as({ id: "bob" }).request("POST", `/api/papers/${name}`, {});
    expect(JSON.stringify(theirs.body)).toContain("HIDDEN");
  });

  it("is shown if the record belonged to the caller and is deleted", async () => {
    const app = await papers();
    const { body } = await app.as({ id: "bob" }).request("POST", "/api/papers/took", {});
    expect(body).toMatchObject({ id: "p", title: "HIDDEN" });
  });
});

const keeps = defineRule("keeps", ({ user }) => ({ keeper: user?.id ?? "" }));
const staff = defineRule("isStaff", ({ user }) => user?.role === "staff");
const tells = (run: (context: StepContext) => unknown) => [step("tell", run)];
const vault = entity("vault", { keeper: string })
  .rules({ read: [keeps] })
  .actions({
    open: action()
      .onResource()
      .rules(keeps)
      .workflow(tells(() => ({ code: "CODE" }))),
    burn: action()
      .onResource()
      .rules(keeps)
      .workflow(tells(({ driver }) => driver.deleteMany("vault", { id: "v" }))),
    total: action()
      .rules(staff)
      .workflow(tells(() => ({ total: 42 }))),
  });

describe("the report of an action's run", () => {
  async function vaults() {
    const app = await started([vault]);
    const now = { createdAt: new Date(), updatedAt: new Date() };
    await app.api.driver.create("vault", { id: "v", keeper: "ann", ...now });
    return app;
  }

  it("has no result for readers who may no longer use the action on its record", async () => {
    const app = await vaults();
    const { result, location } = await shown(app, "/api/vaults/v/open");
    expect(result).toEqual({ code: "CODE" });
    await app.api.driver.update("vault", { id: "v" }, { keeper: "bob" });
    const { status, body } = await app.as({ id: "ann" }).request("GET", location);
    expect([status, body]).toMatchObject([200, { status: "completed" }]);
    expect(body).not.toHaveProperty("result");
  });

  it("has no result for readers who may no longer use a collection action", async () => {
    const app = await vaults();
    const ann = app.as({ id: "ann", role: "staff" });
    const { location } = (await ann.request("POST", "/api/vaults/total", {}, ASYNC)).body as { location: string };
    const report = async () => (await ann.request("GET", location)).body;
    await expect.poll(report).toMatchObject({ status: "completed", result: { total: 42 } });
    expect((await app.as({ id: "ann" }).request("GET", location)).body).not.toHaveProperty("result");
  });

  it("has the result if the run itself has ended the right to use its record", async () => {
    const { result } = await shownOnce(await vaults(), "/api/vaults/v/burn");
    expect(result).toBe(1);
  });

  it("has the result of runs stored by earlier versions", async () => {
    const app = await vaults();
    const { location } = await shown(app, "/api/vaults/v/open");
    await app.api.driver.update("vault", { id: "v" }, { keeper: "bob" });
    const id = location.split("/").at(-1);
    const { value } = JSON.parse(String((await app.api.driver.findOne("workflowRun", { id }))?.caller));
    await app.api.driver.update("workflowRun", { id }, { caller: JSON.stringify({ value }) });
    expect((await app.as({ id: "ann" }).request("GET", location)).body).toMatchObject({ result: { code: "CODE" } });
  });
});
