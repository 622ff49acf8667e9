import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import express from "express";
import { entity, int, keelson, memoryDriver, noopLogger, string } from "keelson";
import { expressAdapter } from "keelson/express";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleForBrowser } from "../../scripts/browser-bundle.ts";
import { testBrowser } from "../support/browser.ts";
import { repositoryRoot } from "../support/source-files.ts";

const note = entity("note", { title: string.min(3), stars: int.min(1).max(5) }).rules({
  read: ["everyone"],
  create: ["authenticated"],
});
const api = keelson({
  entities: [note],
  driver: memoryDriver({
    note: Array.from({ length: 25 }, (_, i) => ({ id: `n${i + 10}`, title: `Note ${i + 10}`, stars: (i % 5) + 1 })),
  }),
  logger: noopLogger,
  getUser: ({ headers }) => (headers.get("authorization") === "Bearer ann" ? { id: "ann" } : null),
});

const browser = testBrowser();
let server: Server;
let url = "";
let size = 0;
let page: Page;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-client-"));
  const code = await bundleForBrowser(join(repositoryRoot, "src/client/index.ts"), folder);
  rmSync(folder, { recursive: true });
  size = gzipSync(code).length;
  server = express()
    .use(expressAdapter(api))
    .get("/client.js", (_request, response) => void response.type("text/javascript").send(code))
    .get(
      "/",
      (_request, response) => void response.send('<!doctype html><link rel="icon" href="data:,"><title>Page</title>'),
    )
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await api.close();
});
beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(url);
});

/** Runs code in the page, where `client` calls the API. */
function run(code: string): Promise<unknown> {
  return page.evaluate(`(async () => {
    const { createClient, KeelsonClientError } = await import("/client.js");
    let token = null;
    const client = createClient({ baseUrl: "/api", getToken: () => token });
    ${code}
  })()`);
}

describe("keelson/client in a page", () => {
  it("is under 6 kB, minified and compressed", () => {
    console.info(`keelson/client: ${size} bytes, minified and compressed`);
    expect(size).toBeLessThan(6_000);
  });

  it("lists with conditions, order and total", async () => {
    const found = await run(`
      const where = { stars: { gte: 4 }, title: { like: "note 1" } };
      const { data, total } = await client.note.list({ where, sort: ["-stars", "title"], limit: 3, select: ["title"] });
      return { titles: data.map(({ title }) => title), total };`);
    expect(found).toEqual({ titles: ["Note 14", "Note 19", "Note 13"], total: 4 });
  });

  it("creates with the page's current token", async () => {
    const made = await run(`
      token = "ann";
      const { id } = await client.note.create({ title: "From a page", stars: 5 });
      return { id, read: await client.note.get(id) };`);
    expect(made).toMatchObject({ read: { title: "From a page", stars: 5 } });
    const { id } = made as { id: string };
    expect(await api.asSystem().note.get(id)).toMatchObject({ title: "From a page" });
    await api.asSystem().note.delete(id);
  });

  it("iterates over all records by cursor, with one request per page", async () => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    const titles = await run(`
      const titles = [];
      for await (const { title } of client.note.all({ sort: ["title"], limit: 10 })) titles.push(title);
      return titles;`);
    expect(titles).toEqual(Array.from({ length: 25 }, (_, i) => `Note ${i + 10}`));
    expect(requests.filter((path) => path === "/api/notes")).toHaveLength(3);
  });

  it("rejects with the API's errors, as its own error class", async () => {
    const told = `(error) => [error instanceof KeelsonClientError, error.code, error.status, error.errors]`;
    expect(await run(`return client.note.create({ title: "Nobody's", stars: 1 }).catch(${told})`)).toEqual([
      true,
      "UNAUTHENTICATED",
      401,
      {},
    ]);
    expect(await run(`token = "ann"; return client.note.create({ title: "x", stars: 1 }).catch(${told})`)).toEqual([
      true,
      "VALIDATION_FAILED",
      400,
      { title: "must be at least 3 characters" },
    ]);
  });

  it("aborts a call", async () => {
    const failed = page.waitForEvent("requestfailed");
    const name = await run(`
      const control = new AbortController();
      const call = client.note.list({}, { signal: control.signal });
      setTimeout(() => control.abort());
      return call.then(() => "answered", (error) => error.name);`);
    expect(name).toBe("AbortError");
    await failed;
  });
});
