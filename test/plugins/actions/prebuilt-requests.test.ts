import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  datetime,
  entity,
  existsAction,
  keelson,
  memoryDriver,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  unarchiveAction,
} from "../../../src/index.ts";
import { type RunningApp, startApp } from "../../support/http.ts";

// The parts of a request that prebuilt actions read: others are refused or ignored.

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const person = entity("person", { name: string }).ownedBy("id").rules(everybody);
const task = entity("task", {
  title: string,
  done: bool.default(false),
  archived: bool.default(false),
  goneAt: datetime.optional(),
  leftAt: datetime.optional(),
  owner: belongsTo(() => person).optional(),
})
  .ownedBy("owner")
  .rules(everybody)
  .actions({
    toggle: toggleAction("done"),
    archive: archiveAction,
    unarchive: unarchiveAction,
    softDelete: softDeleteAction("goneAt"),
    restore: restoreAction("goneAt"),
    clone: cloneAction,
    untitled: cloneAction(["title"]).path("/:id/untitled"),
    exists: existsAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
  });

const api = keelson({
  entities: [person, task],
  driver: memoryDriver(),
  logger: noopLogger,
  getUser: () => ({ id: "ann" }),
});
let app: RunningApp;
beforeAll(async () => {
  app = await startApp(api);
  for (const id of ["ann", "bob"]) await api.asSystem().person.create({ id, name: id });
});
afterAll(() => app.close());
beforeEach(async () => {
  await api.driver.deleteMany("task", { id: { null: false } });
  await api.asSystem().task.create({ id: "t1", title: "One" });
});

async function send(method: string, path: string, body?: string, type = "application/json") {
  const init = body === undefined ? {} : { body };
  const response = await fetch(`${app.url}/api/tasks${path}`, { method, headers: { "content-type": type }, ...init });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

const WITHOUT_BODY: readonly (readonly [string, string, number])[] = [
  ["POST", "/t1/toggle-done", 200],
  ["POST", "/t1/archive", 200],
  ["POST", "/t1/unarchive", 200],
  ["DELETE", "/t1/soft", 200],
  ["POST", "/t1/restore", 200],
];
const BULK: readonly (readonly [string, string])[] = [
  ["PUT", "/bulk"],
  ["POST", "/bulk-update"],
  ["DELETE", "/bulk"],
  ["POST", "/bulk-delete"],
];

describe("a body", () => {
  it.each(WITHOUT_BODY)("is ignored by %s %s", async (method, path, status) => {
    for (const body of [undefined, "{", "[]", '{"title":"Other"}'])
      expect([body, (await send(method, path, body)).status]).toEqual([body, status]);
    expect((await send(method, path, "text", "text/plain")).status).toBe(status);
  });

  it("may be sent to POST /t1/clone, with values for the copy", async () => {
    expect((await send("POST", "/t1/clone")).json).toMatchObject({ title: "One" });
    expect((await send("POST", "/t1/clone", '{"title":"Other"}')).json).toMatchObject({ title: "Other" });
    for (const body of ["{", "[]"]) expect([body, (await send("POST", "/t1/clone", body)).status]).toEqual([body, 400]);
    expect((await send("POST", "/t1/clone", "text", "text/plain")).status).toBe(415);
    expect(await api.driver.count("task")).toBe(3);
  });

  it.each(BULK)("of another type than JSON is 415 for %s %s", async (method, path) => {
    const body = JSON.stringify({
      ids: ["t1"],
      ...(path.includes("delete") || method === "DELETE" ? {} : { data: {} }),
    });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/x-ndjson"])
      expect([type, (await send(method, path, body, type)).status]).toEqual([type, 415]);
    expect(await api.driver.count("task")).toBe(1);
  });

  it.each(BULK)("is required by %s %s", async (method, path) => {
    expect((await send(method, path)).status).toBe(400);
  });
});

describe("a parameter", () => {
  it.each([
    ...WITHOUT_BODY,
    ["POST", "/t1/clone", 201] as const,
    ["GET", "/t1/exists", 200] as const,
    ...BULK.map(([method, path]) => [method, path, 200] as const),
  ])("that %s %s does not know is refused, except a cache buster", async (method, path, status) => {
    const data = method === "DELETE" || path.includes("delete") ? {} : { data: { title: "Two" } };
    const body = path.startsWith("/bulk") ? JSON.stringify({ ids: ["t1"], ...data }) : undefined;
    const before = await api.driver.findMany("task");
    const refused = await send(method, `${path}?dry=true`, body);
    expect([refused.status, refused.json.message]).toEqual([400, '"dry" is not known here.']);
    expect(await api.driver.findMany("task")).toEqual(before);
    expect((await send(method, `${path}?_=1`, body)).status).toBe(status);
  });

  it("that is unknown is refused in the process too", async () => {
    const { task: client } = api.as({ id: "ann" });
    const toggle = client.toggle as (id: string, given: object) => Promise<unknown>;
    await expect(toggle("t1", { dry: true })).rejects.toMatchObject({ status: 400 });
    expect(await client.toggle("t1")).toEqual({ done: true });
    expect(await client.bulkUpdate({ ids: ["t1"], data: { title: "Two" } })).toEqual({ count: 1 });
    for (const given of [undefined, null, "text", { ids: ["t1"], dry: true }] as never[])
      await expect(client.bulkDelete(given)).rejects.toMatchObject({ status: 400 });
  });
});

describe("an id", () => {
  it("of an invalid form gives 404", async () => {
    for (const id of ["t1", "t2", "x".repeat(128), "x".repeat(129), "x".repeat(5_000)])
      expect([id, await send("GET", `/${id}/exists`)]).toEqual([id, { status: 200, json: { exists: id === "t1" } }]);
    expect(await api.as({ id: "ann" }).task.exists("x".repeat(5_000))).toEqual({ exists: false });
    expect((await send("POST", `/${"x".repeat(129)}/archive`)).status).toBe(404);
  });
});

describe("a copy", () => {
  it("is live even if the original is deleted", async () => {
    const at = "2024-05-31T00:00:00.000Z";
    await api.asSystem().task.update("t1", { leftAt: new Date(at) });
    await send("DELETE", "/t1/soft");
    const { status, json } = await send("POST", "/t1/clone");
    expect([status, json]).toMatchObject([201, { title: "One", goneAt: null, leftAt: at, ownerId: "ann" }]);
  });

  it("that lacks a required value is refused", async () => {
    const { status, json } = await send("POST", "/t1/untitled");
    expect([status, json.code, Object.keys(json.errors)]).toEqual([400, "VALIDATION_FAILED", ["title"]]);
    expect(await api.driver.count("task")).toBe(1);
  });

  it("belongs to the caller, or to the original's owner if the system made it", async () => {
    await api.asSystem().task.update("t1", { ownerId: "bob" });
    expect((await send("POST", "/t1/clone")).json.ownerId).toBe("ann");
    expect(await api.asSystem().task.clone("t1")).toMatchObject({ title: "One", ownerId: "bob" });
  });
});
