import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Driver, entity, type Keelson, keelson, memoryDriver, string } from "../../src/index.ts";
import { connectDriver } from "../support/connect-driver.ts";
import { testDriver } from "../support/driver-contract.ts";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";
import { membersOf } from "./concepts/members-of.ts";
import { columnOf, namesIn, tableBelow } from "./concepts/table-below.ts";

const page = openPage("guides/write-a-driver");
const folder = mkdtempSync(join(tmpdir(), "keelson-json-file-"));
afterAll(() => {
  page.remove();
  rmSync(folder, { recursive: true, force: true });
});

// Everything, not only the parts that driverContract() tests.
testDriver("the page's", async (entities) => {
  const { jsonFile } = await page.load<{ jsonFile(file: string): Driver }>("json-file.ts");
  const driver = await connectDriver(jsonFile(join(folder, "contract.json")), entities);
  return { driver, close: () => driver.disconnect() };
});

describe("docs/guides/write-a-driver.md", () => {
  it("names every member of the port, and every capability", () => {
    const file = "src/gate/statement/driver-port.ts";
    expect(columnOf(page.text, "The port").sort()).toEqual(membersOf(file, "DriverPort").sort());
    expect(columnOf(page.text, "Capabilities").sort()).toEqual(membersOf(file, "DriverCapabilities").sort());
  });

  it("names every statement with its members", () => {
    const kinds: Readonly<Record<string, string>> = {
      find: "Find",
      count: "Count",
      aggregate: "Aggregate",
      insert: "Insert",
      update: "Update",
      delete: "Delete",
      pairs: "FindPairs",
      link: "ChangePairs",
    };
    const rows = tableBelow(page.text, "Statements");
    expect(rows.map(([kind]) => namesIn(kind)[0])).toEqual(Object.keys(kinds));
    for (const [kind, members] of rows) {
      const [name = ""] = namesIn(kind);
      const file = name === "aggregate" ? "aggregate" : "statement";
      const declared = membersOf(`src/gate/statement/${file}.ts`, kinds[name] ?? "");
      expect(["kind", ...namesIn(members)].sort(), name).toEqual(declared.sort());
    }
  });

  it("runs the contract on its driver", async () => {
    const { brokenRules } = await page.load<{ brokenRules(file: string): Promise<string[]> }>("json-file.contract.ts");
    expect(await brokenRules(join(folder, "cases.json"))).toEqual([]);
  });

  it("serves an app whose records survive a restart", async () => {
    const { createApi } = await page.load<{ createApi(file: string): Keelson }>("app.ts");
    const file = join(folder, "notes.json");
    const first = await startApp(createApi(file));
    const { json } = await request(first.url, "POST", "/api/notes", { body: { text: "kept" } });
    await first.close();
    const second = await startApp(createApi(file));
    expect((await request(second.url, "GET", "/api/notes")).json).toEqual([json]);
    await second.close();
  });

  it("wraps every statement, also in transactions, and keeps the capabilities", async () => {
    const { timed } = await page.load<{ timed(driver: Driver, report: (what: string) => void): Driver }>("timed.ts");
    const seen: string[] = [];
    const inner = memoryDriver();
    const driver = await connectDriver(
      timed(inner, (statement) => seen.push(statement)),
      [entity("note", { text: string }).timestamps(false)],
    );
    await driver.create("note", { id: "n1", text: "a" });
    await driver.transaction((tx) => tx.update("note", { id: "n1" }, { text: "b" }));
    expect(seen).toEqual(["insert note", "update note"]);
    expect(driver.capabilities).toEqual(inner.capabilities);
    await driver.disconnect();
  });

  it("has the options of middleware", () => {
    const named = columnOf(page.text, "Middleware");
    expect(named.slice(0, 3).sort()).toEqual(
      membersOf("src/gate/statement/with-middleware.ts", "MiddlewareOptions").sort(),
    );
    expect(membersOf("src/gate/statement/driver-port.ts", "DriverPort")).toEqual(
      expect.arrayContaining(named.slice(3)),
    );
  });

  it("is not a valid driver as a copy", () => {
    const driver = { ...memoryDriver(), ping: async () => {} } as Driver;
    expect(() => keelson({ entities: [], driver })).toThrow("make one with defineDriver(port)");
  });
});
