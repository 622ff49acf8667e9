import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { freshPostgres } from "../../support/databases.ts";

let database: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  database = await freshPostgres();
});
afterAll(() => database.drop());

/** An app whose modules are loaded again, as bundlers and development servers do. */
async function openAnew() {
  vi.resetModules();
  const { openApp } = await import("./dbos-app.ts");
  const app = openApp(database.url);
  onTestFinished(app.close);
  await app.api.ready;
  return app;
}

it("runs workflows on DBOS, however often its modules are loaded", async () => {
  const first = await openAnew();
  await first.api.asSystem().stock.create({ id: "s", name: "chairs", left: 2 });
  await first.close();
  const second = await openAnew();
  const { status } = await second.as({ id: "ann" }).request("POST", "/api/orders/place", { item: "chair" });
  expect([status, (await second.api.asSystem().stock.get("s")).left]).toEqual([200, 1]);
});
