import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { action, conflictError, embedded, entity, keelson, noopLogger, step, string } from "../../../src/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { type RunningApp, request, startApp } from "../../support/http.ts";

const first = step(
  "first",
  () => "canary-result",
  () => {},
);
const second = step("second", ({ input }: { readonly input: { readonly how: string } }) => {
  if (input.how === "conflict") throw conflictError("The shelf is empty");
  if (input.how === "odd") throw new TypeError("canary-inside");
  return input.how;
});
const order = entity("order", { item: string }).actions({
  place: action().rules("authenticated").input({ how: string }).workflow([first, second]),
  other: action().rules("authenticated").input({ how: string }).workflow([second]),
});

let app: RunningApp;
let remove: () => unknown;
const get = (path: string, token?: string) => request(app.url, "GET", `/api/workflow-runs${path}`, { token });
const run = (how: string, token: string, which = "place") =>
  request(app.url, "POST", `/api/orders/${which}`, { body: { how }, token });
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

beforeAll(async () => {
  const database = await freshSqliteFile();
  remove = database.remove;
  const api = keelson({
    entities: [order],
    driver: embedded({ file: database.file }),
    logger: noopLogger,
    limits: { maxPageSize: 5 },
    getUser({ headers }) {
      const id = headers.get("authorization")?.slice("Bearer ".length);
      return id === undefined ? null : { id, role: id === "root" ? "admin" : "clerk" };
    },
  });
  app = await startApp(api);
  for (const how of ["fine", "conflict", "odd"]) await run(how, "ann");
  for (const how of ["fine", "fine"]) await run(how, "bob", "other");
});
afterAll(async () => {
  await app.close();
  await remove();
});

describe("the list of runs", () => {
  it("contains the caller's own runs, the newest first", async () => {
    const { status, json } = await get("", "ann");
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { name: "order.place", status: "compensated", failedStep: "second", error: { code: "INTERNAL" } },
      { name: "order.place", status: "compensated", error: { code: "CONFLICT", message: "The shelf is empty" } },
      { name: "order.place", status: "completed" },
    ]);
    expect(JSON.stringify(json)).not.toMatch(/canary|userId|caller/);
  });

  it("contains all runs, and their owners, for administrators only", async () => {
    const { json } = await get("", "root");
    expect(json.map(({ userId }: { userId: string }) => userId)).toEqual(["bob", "bob", "ann", "ann", "ann"]);
    expect((await get("", "eve")).json).toEqual([]);
    expect((await get("")).status).toBe(401);
  });

  it("finds runs by status and by workflow", async () => {
    expect((await get("?status=compensated", "root")).json).toHaveLength(2);
    expect(namesOf((await get("?name=order.other", "root")).json)).toEqual(["order.other", "order.other"]);
    expect((await get("?name=order.other", "ann")).json).toEqual([]);
  });

  it("continues after a page, and respects the page size", async () => {
    const seen: string[] = [];
    let after = "";
    for (let page = 0; page < 3; page++) {
      const { json, headers } = await get(`?_limit=2${after}`, "root");
      seen.push(...json.map(({ id }: { id: string }) => id));
      after = `&_after=${headers.get("x-next-cursor")}`;
      expect(headers.has("x-next-cursor")).toBe(page < 2);
    }
    expect(new Set(seen).size).toBe(5);
    expect((await get("?_limit=6", "root")).status).toBe(400);
  });

  it("refuses unknown parameters, and cursors of other lists", async () => {
    for (const query of ["?_limit=0", "?_limit=x", "?status=done", "?userId=ann", "?_after=x"])
      expect([query, (await get(query, "ann")).status]).toEqual([query, 400]);
  });
});

describe("the report of a run", () => {
  it("shows each step's outcome, and whether it was compensated", async () => {
    const { json: runs } = await get("?status=compensated", "ann");
    const { json } = await get(`/${runs[1].id}`, "ann");
    expect(json.steps).toMatchObject([
      { name: "first", execute: { status: "done", attempt: 1 }, compensate: { status: "done" } },
      { name: "second", execute: { status: "failed", error: { code: "CONFLICT", message: "The shelf is empty" } } },
    ]);
    expect(json.steps[1].compensate).toBeUndefined();
    const odd = await get(`/${runs[0].id}`, "ann");
    expect(odd.json.steps[1].execute.error.code).toBe("INTERNAL");
    expect(JSON.stringify(odd.json)).not.toContain("canary");
  });
});
