import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Driver, type Keelson, memoryDriver } from "../../src/index.ts";
import { connectDriver } from "../support/connect-driver.ts";
import { testDriver } from "../support/driver-contract.ts";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";

const page = openPage("guides/write-a-driver");
const folder = mkdtempSync(join(tmpdir(), "keelson-json-file-"));
afterAll(() => {
  page.remove();
  rmSync(folder, { recursive: true, force: true });
});

// All of it, and not only what driverContract() has.
testDriver("the page's", async (entities) => {
  const { jsonFile } = await page.load<{ jsonFile(file: string): Driver }>("json-file.ts");
  const driver = await connectDriver(jsonFile(join(folder, "contract.json")), entities);
  return { driver, close: () => driver.disconnect() };
});

describe("docs/guides/write-a-driver.md", () => {
  it("names everything that a driver has", async () => {
    const table = page.text.slice(page.text.indexOf("| method |"), page.text.indexOf("The rules behind"));
    const named = [...table.matchAll(/`(\w+)[`(]/g)].map(([, name]) => name);
    const members = Object.keys(memoryDriver()).filter((name) => name !== "schema");
    expect(members.filter((name) => !named.includes(name))).toEqual([]);
  });

  it("runs the contract on its driver", async () => {
    const { brokenRules } = await page.load<{ brokenRules(file: string): Promise<string[]> }>("json-file.contract.ts");
    expect(await brokenRules(join(folder, "cases.json"))).toEqual([]);
  });

  it("serves an app whose records are there again after a restart", async () => {
    const { createApi } = await page.load<{ createApi(file: string): Keelson }>("app.ts");
    const file = join(folder, "notes.json");
    const first = await startApp(createApi(file));
    const { json } = await request(first.url, "POST", "/api/notes", { body: { text: "kept" } });
    await first.close();
    const second = await startApp(createApi(file));
    expect((await request(second.url, "GET", "/api/notes")).json).toEqual([json]);
    await second.close();
  });
});
