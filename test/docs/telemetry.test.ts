import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { keelson } from "../../src/index.ts";
import type { TelemetryOptions } from "../../src/plugins/telemetry/index.ts";
import { outline, recordSpans } from "../plugins/telemetry/recorder.ts";
import { openPage, type Page } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";

let guide: Page;
const recorded = recordSpans();
beforeAll(() => {
  guide = openPage("guides/telemetry");
});
afterAll(async () => {
  guide.remove();
  await recorded.shutdown();
});

it("docs/guides/telemetry.md shows the real spans of a list", async () => {
  const { api } = await guide.load<{ api: ReturnType<typeof keelson> }>("shop.ts");
  await api.ready;
  recorded.reset();
  const response = await api.fetch(new Request("http://host/api/products?include=maker"));
  expect(response.status).toBe(200);
  const [, shown = ""] = /```text\n(GET [^`]+)```/.exec(guide.text) ?? [];
  expect(outline(recorded.tree("GET /api/products"))).toEqual(shown.trimEnd().split("\n"));
  await api.close();
});

it("docs/guides/telemetry.md names every kind of statement, and transactions", () => {
  const source = readFileSync(join(repositoryRoot, "src/gate/statement/statement.ts"), "utf8");
  const kinds = [...source.matchAll(/readonly kind: ([^;]+);/g)].flatMap(([, of = ""]) => of.match(/\w+/g) ?? []);
  const [, named = ""] = /A statement is named after its kind:([\s\S]*?)\n\n/.exec(guide.text) ?? [];
  expect([...named.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual([...kinds, "transaction"].sort());
});

it("docs/guides/telemetry.md has the real table of options", () => {
  const names: Record<keyof TelemetryOptions, true> = {
    phases: true,
    statements: true,
    metrics: true,
    ids: true,
    userId: true,
  };
  const [, table = ""] = /## Options\n\n([\s\S]*?)\n\n/.exec(guide.text) ?? [];
  expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(Object.keys(names));
});
