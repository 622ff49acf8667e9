import { afterAll, beforeAll, expect, it } from "vitest";
import type { Keelson } from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let database: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  guide = openPage("guides/workflows-on-dbos");
  database = await freshPostgres();
});
afterAll(async () => {
  guide.remove();
  await database.drop();
});

it("compiles, and runs its workflow", async () => {
  const { createApp } = await guide.load<{ createApp(databaseUrl: string): Keelson }>("createApp");
  const api = createApp(database.url);
  const response = await api.fetch(
    new Request("http://test.invalid/api/notes/send", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: "hello" }),
    }),
  );
  expect([response.status, await response.json()]).toEqual([200, "sent hello"]);
  await api.close();
}, 120_000);
