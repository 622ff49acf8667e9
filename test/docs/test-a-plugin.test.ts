import { afterAll, describe, expect, it } from "vitest";
import { createFakeKernel } from "../../src/testing/index.ts";
import { openPage } from "../support/page.ts";

const page = openPage("guides/test-a-plugin");
afterAll(() => page.remove());

// The page's own tests, unchanged.
await page.load("audit.test.ts");
await page.load("app.test.ts");
await page.load("middleware.test.ts");

describe("docs/guides/test-a-plugin.md", () => {
  it("names every member of the fake kernel, and no other", () => {
    const table = page.text.slice(page.text.indexOf("| member |"), page.text.indexOf("What has a stand-in"));
    const named = [...table.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(Object.keys(createFakeKernel()).sort());
  });
});
