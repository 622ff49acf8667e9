import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import express from "express";
import type { Keelson } from "keelson";
import { createClient } from "keelson/client";
import { expressAdapter } from "keelson/express";
import { createQueries } from "keelson/react-query";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { viteOptions } from "../../examples/react/vite-options.ts";
import { testBrowser } from "../support/browser.ts";
import { openPage, type Page } from "../support/page.ts";

const browser = testBrowser();
let guide: Page;

beforeAll(() => {
  guide = openPage("guides/react");
});
afterAll(() => guide.remove());

const HTML = '<!doctype html><html lang="en"><title>T</title><link rel="icon" href="data:,"><div id="root"></div>';

async function open() {
  const { createTasks } = await guide.load<{ createTasks(): Keelson }>("api.ts");
  const api = createTasks();
  const folder = mkdtempSync(join(tmpdir(), "react-guide-"));
  const root = dirname(guide.file("main.tsx"));
  writeFileSync(join(root, "index.html"), `${HTML}<script type="module" src="./main.tsx"></script></html>`);
  await build({ ...viteOptions(root), build: { outDir: folder, emptyOutDir: true } });
  const server = createServer(express().use(expressAdapter(api), express.static(folder))).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await api.close();
    rmSync(folder, { recursive: true });
  });
  return { api, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("docs/guides/react.md", () => {
  it("has a page that lists, counts, changes and adds, and shows errors", async () => {
    const { url } = await open();
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByRole("heading", { name: "1 open" }).waitFor();
    await page.getByRole("checkbox", { name: "Water the roses (Garden)" }).click();
    await page.getByRole("heading", { name: "0 open" }).waitFor();
    await page.getByRole("textbox", { name: "Title" }).fill("x");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("must be at least 3 characters").waitFor();
    await page.getByRole("textbox", { name: "Title" }).fill("Sow the lawn");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("checkbox", { name: "Sow the lawn (Garden)" }).waitFor();
  });

  it("has the documented query keys", async () => {
    const { url } = await open();
    type Invalidation = {
      forgetTasks(cache: QueryClient): Promise<void>;
      titleOf(cache: QueryClient, id: string): string;
    };
    const { forgetTasks, titleOf } = await guide.load<Invalidation>("invalidation.ts");
    const cache = new QueryClient();
    const tasks = createQueries(createClient({ baseUrl: `${url}/api` })) as unknown as ReturnType<
      typeof createQueries
    > &
      Record<
        "task",
        { get: { queryOptions(id: string): { queryKey: readonly unknown[]; queryFn(): Promise<object> } } }
      >;
    const options = tasks.task.get.queryOptions("t1");
    expect(options.queryKey).toEqual(["keelson", "task", "get", "t1"]);
    const observer = new QueryObserver(cache, options as never);
    onTestFinished(observer.subscribe(() => {}));
    await expect.poll(() => titleOf(cache, "t1")).toBe("Water the roses");
    const before = cache.getQueryState(options.queryKey)?.dataUpdateCount ?? 0;
    await forgetTasks(cache);
    expect(cache.getQueryState(options.queryKey)?.dataUpdateCount).toBe(before + 1);
  });
});
