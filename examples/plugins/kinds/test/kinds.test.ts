import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embedded, entity, exportAction, importAction, memoryDriver } from "keelson";
import { defineKind } from "keelson/plugin";
import { createTestApp } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { money, point } from "../src/index.ts";

const shop = entity("shop", {
  fee: money("EUR"),
  place: point.optional(),
  deposit: money("JPY", 0).encrypted({ searchable: true }).optional(),
  margin: money("EUR").readable("admin").default(0),
  rates: money("EUR").array().default([]),
})
  .rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"] })
  .actions({ import: importAction(), export: exportAction() });
const home = { lat: 52.5, lng: 13.4 };

describe.each([
  ["memory", () => memoryDriver()],
  ["SQLite", () => embedded({ file: join(mkdtempSync(join(tmpdir(), "kinds-")), "app.db") })],
])("kinds of one's own on %s", (_, makeDriver) => {
  function boot() {
    const app = createTestApp({
      entities: [shop],
      driver: makeDriver(),
      encryption: { key: "0123456789abcdef".repeat(4) },
    });
    onTestFinished(() => app.close());
    return { api: app.api, request: app.as(null).request };
  }

  it("are stored, returned, sorted and filtered", async () => {
    const { request } = boot();
    for (const [fee, deposit] of [
      [1250, 70],
      [300, 80],
      [99, 70],
    ])
      expect((await request("POST", "/api/shops", { fee, place: home, deposit })).status).toBe(201);
    const fees = async (query: string) =>
      ((await request("GET", `/api/shops?${query}`)).body as { fee: number }[]).map(({ fee }) => fee);
    expect(await fees("_sort=fee")).toEqual([99, 300, 1250]);
    expect(await fees("fee_gte=300&_sort=fee&_order=desc")).toEqual([1250, 300]);
    expect(await fees("deposit=70&_sort=fee")).toEqual([99, 1250]);
    expect((await request("GET", "/api/shops?_sort=fee&_limit=1")).body).toMatchObject([{ place: home, deposit: 70 }]);
    expect((await request("GET", "/api/shops?_sort=place")).status).toBe(400);
  });

  it("come in arrays, and are looked into", async () => {
    const { request } = boot();
    for (const [fee, lat] of [
      [1, 52.5],
      [2, 10],
    ])
      await request("POST", "/api/shops", { fee, place: { lat, lng: 0 }, rates: [fee, 100] });
    const fees = async (query: string) =>
      ((await request("GET", `/api/shops?${query}&_sort=fee`)).body as { fee: number }[]).map(({ fee }) => fee);
    expect(await fees("rates_has=2")).toEqual([2]);
    expect(await fees("rates_hasAll=1,100")).toEqual([1]);
    expect(await fees("place.lat_gt=50")).toEqual([1]);
    expect((await request("POST", "/api/shops", { fee: 3, rates: [1.5] })).status).toBe(400);
    const { body } = await request("GET", "/api/shops/export?format=csv&select=rates");
    expect(String(body)).toContain("[1,100]");
  });

  it("refuse what their schema refuses, with the field, and store nothing", async () => {
    const { request } = boot();
    const sent = { fee: 12.5, place: { lat: 100, lng: 0 } };
    const { status, body } = await request("POST", "/api/shops", sent);
    expect([status, Object.keys((body as { errors: object }).errors).sort()]).toEqual([400, ["fee", "place.lat"]]);
    expect((await request("GET", "/api/shops?fee_gte=much")).status).toBe(400);
    expect((await request("GET", "/api/shops")).body).toEqual([]);
  });

  it("keep their rules, and have a text form in CSV", async () => {
    const { api, request } = boot();
    await request("POST", "/api/shops", { fee: 1250 });
    expect((await request("GET", "/api/shops")).body).not.toMatchObject([{ margin: 0 }]);
    const { body } = await request("GET", "/api/shops/export?format=csv&select=fee");
    expect(String(body)).toContain("12.50");
    const headers = { "content-type": "text/csv" };
    const init = { method: "POST", headers, body: "fee\r\n3.99\r\ncheap\r\n" };
    const report = await (await api.fetch(new Request("http://test.invalid/api/shops/import", init))).json();
    expect(report).toMatchObject({ created: 1, failed: [{ row: 2, errors: { fee: expect.any(String) } }] });
    expect((await request("GET", "/api/shops?fee=399")).body).toHaveLength(1);
  });

  it("are in the documentation", async () => {
    const { body } = await boot().request("GET", "/openapi.json");
    const { components } = body as { components: { schemas: Record<string, { properties: Record<string, unknown> }> } };
    expect(components.schemas.Shop?.properties).toMatchObject({
      fee: { type: "integer", description: "In the smallest unit of EUR" },
      place: { type: ["object", "null"], required: ["lat", "lng"] },
      rates: { type: "array", items: { type: "integer", description: "In the smallest unit of EUR" } },
    });
  });
});

describe("defineKind", () => {
  const schema = z.string();
  it.each([
    ["a name that is not a word", { name: "my kind", stored: "string", schema }, "the name is one word"],
    ["an unknown storage", { name: "odd", stored: "blob", schema }, "`stored` is one of"],
    ["an operator it cannot have", { name: "odd", stored: "json", schema, operators: ["gt"] }, 'no operator "gt"'],
    ["one half of a text form", { name: "odd", stored: "string", schema, toText: String }, "come together"],
  ])("refuses %s", (_, options, message) => {
    expect(() => defineKind(options as never)).toThrow(message);
  });
});
