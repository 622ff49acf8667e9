import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Keelson } from "keelson";
import { type clientRoutes, createClient } from "keelson/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freshSqliteFile } from "../support/databases.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;

beforeAll(() => {
  guide = openPage("guides/client");
});
afterAll(() => guide.remove());

describe("docs/guides/client.md", () => {
  it("shows calls with their real results", async () => {
    const { api } = await guide.load<{ api: Keelson }>("api.ts");
    onTestFinished(() => api.close());
    const { tour, client } = await guide.load<{
      tour(): Promise<unknown>;
      client: Record<"post", { get(id: string): Promise<unknown> } & Record<string, unknown>>;
    }>("client.ts");
    expect(await tour()).toEqual({
      total: 1,
      nextCursor: null,
      names: ["Ann"],
      published: 2,
      titles: ["First", "Second post"],
      code: "VALIDATION_FAILED",
      errors: { title: "must be at least 3 characters" },
    });
    expect(await client.post.get("p1")).toMatchObject({ publishedAt: "2026-01-02T03:04:05.000Z" });
    for (const name of guide.text.match(/(?<=^\| .*`)\w+(?=\([^)]*\)`.*\| )/gm) ?? [])
      expect(client.post[name], name).toBeTypeOf("function");
  });

  it("writes routes that a client accepts", async () => {
    const { writeRoutes } = await guide.load<{ writeRoutes(file: string): void }>("write-routes.ts");
    const file = join(dirname(guide.file("api.ts")), "routes.json");
    writeRoutes(file);
    const routes = JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof clientRoutes>;
    expect(routes).toMatchObject({
      person: { path: "people" },
      post: { actions: { softDelete: { path: "/:id/soft" } } },
    });
  });

  it("starts a workflow and requests the report of its run", async () => {
    const { file, remove } = await freshSqliteFile();
    const { makeShop, place } = await guide.load<{
      makeShop(file: string): Keelson;
      place(client: unknown, item: string): Promise<unknown>;
    }>("makeShop");
    const api = makeShop(file);
    onTestFinished(async () => {
      await api.close();
      await remove();
    });
    const client = createClient({
      baseUrl: "http://shop.example/api",
      fetch: (url, init) => api.fetch(new Request(url, init)),
    });
    expect(await place(client, "nut")).toMatchObject({ status: expect.stringMatching(/^(running|completed)$/) });
  });
});
