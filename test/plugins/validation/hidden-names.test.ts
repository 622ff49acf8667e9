import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bulkUpdateAction,
  createPlugin,
  defineRule,
  entity,
  importAction,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";

const everyone = ["everyone"] as const;
const task = entity("task", {
  title: string,
  wages: int.optional().readable("admin").writable("admin"),
  rating: int.optional().writable("admin"),
  origin: string.optional().omit().readonly(),
})
  .rules({ read: everyone, create: everyone, update: everyone })
  .actions({ bulk: bulkUpdateAction, import: importAction });
const payment = entity("payment", { note: string, wages: int.readable("admin").writable("admin") }).rules({
  read: everyone,
  create: everyone,
});

/** An async rule that denies. */
const later = defineRule("hnLater", async ({ user }) => {
  await nextTurn();
  return user?.role === "admin";
});
const badge = entity("badge", {
  title: string.unique(),
  hold: string.unique().default("none").readable([later]).writable("admin"),
}).rules({ read: everyone, create: everyone });

let isTransactional = false;
const transactional = createPlugin({
  id: "acme/transactional",
  hooks: { "operation:protect": (operation) => void (operation.transactional = isTransactional) },
});
let role: string | undefined;
const api = keelson({
  entities: [task, payment, badge],
  driver: memoryDriver(),
  logger: noopLogger,
  plugins: [transactional],
  getUser: () => ({ id: "ann", role }),
});
beforeAll(async () => {
  await api.ready;
  await api.asSystem().task.create({ id: "1", title: "First" });
});
afterAll(() => api.close());

async function send(method: string, path: string, body: unknown, type = "application/json") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": type };
  const response = await api.fetch(new Request(`http://localhost/api${path}`, { method, headers, body: text }));
  const { requestId: _, ...json } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, ignored: response.headers.get("x-ignored-fields"), json };
}

const SURFACES: readonly (readonly [string, (name: string) => ReturnType<typeof send>])[] = [
  ["a create", (name) => send("POST", "/tasks", { title: "New", [name]: 1 })],
  ["an update", (name) => send("PATCH", "/tasks/1", { [name]: 1 })],
  ["a bulk update", (name) => send("POST", "/tasks/bulk-update", { ids: ["1"], data: { [name]: 1 } })],
  ["an import of JSON", (name) => send("POST", "/tasks/import", [{ title: "New", [name]: 1 }])],
  [
    "an import of lines",
    (name) => send("POST", "/tasks/import", `${JSON.stringify({ title: "New", [name]: 1 })}\n`, "application/x-ndjson"),
  ],
  ["an import of CSV", (name) => send("POST", "/tasks/import", `title,${name}\nNew,1\n`, "text/csv")],
];

describe("a taken value", () => {
  it("names fields that were sent or may be read, and no hidden default", async () => {
    const taken = async (title: string) => (await send("POST", "/badges", { title })).json;
    await api.asSystem().badge.create({ title: "First" });
    expect(await taken("First")).toMatchObject({ errors: { title: "is already taken" } });
    isTransactional = true;
    expect(await taken("Third")).toMatchObject({ status: 409, message: "Conflict with an existing record" });
    expect(await taken("Third")).not.toHaveProperty("errors");
    isTransactional = false;
    expect(await taken("Second")).toEqual({
      status: 409,
      code: "CONFLICT",
      message: "Conflict with an existing record",
    });
  });
});

describe.each(SURFACES)("%s", (_surface, ask) => {
  it("treats a field that may neither be read nor written as an unknown name", async () => {
    role = undefined;
    const told = async (name: string) => JSON.stringify(await ask(name)).replaceAll(name, "NAME");
    const unknown = await told("qqqqq");
    expect(unknown).toContain("is not a field");
    expect([await told("wages"), await told("origin")]).toEqual([unknown, unknown]);
  });

  it("names a field that may be read and not written", async () => {
    role = undefined;
    expect(await ask("rating")).toMatchObject({ ignored: "rating" });
  });

  it("accepts both from callers who may write them", async () => {
    role = "admin";
    for (const name of ["wages", "rating"]) {
      const { status, ignored, json } = await ask(name);
      expect([200, 201]).toContain(status);
      expect([ignored, json.failed ?? []]).toEqual([null, []]);
    }
  });
});

describe("a required field that may neither be read nor written", () => {
  it("is reported as missing without its name", async () => {
    role = undefined;
    const { status, json } = await send("POST", "/payments", { note: "x" });
    expect(status).toBe(400);
    expect(JSON.stringify(json)).not.toContain("wages");
  });
});
