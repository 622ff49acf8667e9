import { entity, memoryDriver, string } from "keelson";
import { createFakeKernel, type FakeKernel } from "keelson/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crud } from "../../../src/plugins/crud/index.ts";
import { query } from "../../../src/plugins/query/index.ts";

const note = entity("note", { text: string });
const hidden = entity("hidden", { text: string }).internal();

let kernel: FakeKernel;
beforeEach(async () => {
  kernel = createFakeKernel().withEntities(note, hidden).withDriver(memoryDriver());
  await kernel.use(query());
  await kernel.use(crud());
});
afterEach(() => kernel.close());

describe("crud alone", () => {
  it("adds the routes of each entity that is not internal, and nothing else", () => {
    const { routes, requires, hooks, problems } = kernel.seen;
    expect(routes.filter((route) => route.includes("/notes"))).toEqual(
      expect.arrayContaining(["DELETE /notes/:id", "GET /notes", "GET /notes/:id", "PATCH /notes/:id", "POST /notes"]),
    );
    expect(routes.filter((route) => route.includes("hidden"))).toEqual([]);
    expect(requires).toEqual(expect.arrayContaining(["query", "relations", "rules", "validation"]));
    expect([hooks, problems]).toEqual([[], []]);
  });

  it("creates, lists, changes and deletes a record", async () => {
    const made = await kernel.call("POST", "/notes", { body: { text: "a" } });
    const { id } = made.body as { id: string };
    expect(made.status).toBe(201);
    expect((await kernel.call("PATCH", `/notes/${id}`, { body: { text: "b" } })).body).toMatchObject({ text: "b" });
    expect((await kernel.call("GET", "/notes", { search: "text=b" })).body).toMatchObject([{ id, text: "b" }]);
    expect((await kernel.call("DELETE", `/notes/${id}`)).status).toBe(200);
    expect((await kernel.call("GET", `/notes/${id}`)).status).toBe(404);
  });
});
