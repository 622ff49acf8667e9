import { entity, memoryDriver, text } from "keelson";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { search } from "../../../src/plugins/search/index.ts";

const note = entity("note", { body: text.searchable() });

describe("search alone", () => {
  it("adds a hook to lists, and nothing else", async () => {
    const kernel = await createFakeKernel().withEntities(note).withDriver(memoryDriver()).use(search());
    expect(kernel.seen).toMatchObject({ services: [], routes: [], requires: [], problems: [] });
    expect(kernel.seen.hooks.join()).toContain("operation:join");
    await kernel.close();
  });

  it("finds records by words, also records from before the index existed", async () => {
    const driver = memoryDriver({ note: [{ id: "old", body: "a lantern" }] });
    const kernel = await createFakeKernel().withEntities(note).withDriver(driver).use(search());
    await kernel.operation({ kind: "create", entity: "note", data: { body: "Two lanterns" } });
    const find = async (search: string) => {
      const { records } = await kernel.operation({ kind: "list", entity: "note", query: { search } });
      return records.map(({ body }) => body).sort();
    };
    expect(await find("lantern")).toContain("a lantern");
    expect(await find("lanterns")).toEqual(["Two lanterns"]);
    expect(await find("anchor")).toEqual([]);
    await kernel.close();
  });
});
