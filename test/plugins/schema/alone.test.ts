import { entity, memoryDriver, string } from "keelson";
import { withMiddleware } from "keelson/plugin";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { schema } from "../../../src/plugins/schema/index.ts";

const note = entity("note", { text: string });

function boot(mode: "auto" | "off", calls: string[]) {
  const push = async () => ({ changed: calls.push("push") > 0 });
  const pending = async () => [];
  const driver = withMiddleware(memoryDriver(), (statement, next) => next(statement), {
    schema: { mode, push, pending },
  });
  return createFakeKernel().withEntities(note).withDriver(driver).use(schema());
}

describe("schema alone", () => {
  it("declares nothing", async () => {
    const { seen } = await boot("off", []);
    expect(seen).toEqual({ services: [], hooks: [], routes: [], requires: [], provides: [], problems: [] });
  });

  it("changes the tables when the app starts, unless the driver disables it", async () => {
    const calls: string[] = [];
    const kernel = await boot("auto", calls);
    await boot("off", calls);
    expect(calls).toEqual(["push"]);
    expect(kernel.log.lines.join("\n")).toContain("The tables were changed");
  });
});
