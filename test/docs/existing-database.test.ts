import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-tree.ts";
import type { Command } from "../../src/cli/shell/command.ts";
import type { Keelson } from "../../src/index.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let api: Keelson;

beforeAll(async () => {
  guide = openPage("guides/existing-database");
  ({ api } = await guide.load<{ api: Keelson }>("entities.ts"));
  await api.ready;
});
afterAll(async () => {
  await api.close();
  guide.remove();
});

describe("docs/guides/existing-database.md", () => {
  it("has entities of tables with names of their own", async () => {
    await api.asSystem().customer?.create({ name: "Ann", isVip: true } as never);
    const body = JSON.stringify({ number: "7", total: "12.5", customerId: 1 });
    const headers = { "content-type": "application/json" };
    const response = await api.fetch(new Request("http://localhost/api/orders", { method: "POST", body, headers }));
    expect(await response.json()).toMatchObject({ id: 1, number: "7", total: "12.50", customerId: 1 });
  });

  it("names the options that the command has", async () => {
    const { args } = await (COMMANDS.import as { load(): Promise<Command> }).load();
    const named = [...guide.text.matchAll(/--(\w+)/g)].map(([, name]) => name as string);
    expect(Object.keys(args)).toEqual(expect.arrayContaining([...new Set(named)]));
  });
});
