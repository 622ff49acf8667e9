import { entity, memoryDriver, string } from "keelson";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { versions } from "../../../src/plugins/versions/index.ts";

const note = entity("note", { text: string }).versioned();

describe("versions alone", () => {
  it("adds conditional requests, and provides versions", async () => {
    const kernel = await createFakeKernel().withEntities(note).withDriver(memoryDriver()).use(versions());
    expect(kernel.seen).toEqual({
      services: ["versions.requests"],
      hooks: [],
      routes: [],
      requires: [],
      provides: ["versioned"],
      problems: [],
    });
    await kernel.close();
  });

  it("describes its headers in the documentation, if there is one", async () => {
    const notes: unknown[] = [];
    const kernel = createFakeKernel().withDriver(memoryDriver());
    await kernel.given("openapi.routes", { add: (note: unknown) => notes.push(note) }).use(versions());
    expect(notes).toHaveLength(1);
    await kernel.close();
  });
});
