import pg from "pg";
import { expect, it, onTestFinished, vi } from "vitest";
import { entity, noopLogger, postgres, text } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshPostgres } from "../../support/databases.ts";

const rules = { read: ["everyone"] };
const letter = entity("letter", { body: text }).rules(rules);
const card = entity("card", { body: text, note: text.optional() }).rules(rules);

it("a list reads again only if a value is too long for the first statement", async () => {
  const { url, drop } = await freshPostgres();
  onTestFinished(drop);
  const app = createTestApp({
    entities: [letter, card],
    driver: postgres(url),
    limits: { pageBytes: 100_000 },
    logger: noopLogger,
  });
  onTestFinished(() => app.close());
  await app.api.ready;
  const system = app.api.asSystem();
  for (const id of ["a", "b"]) {
    await system.letter.create({ id, body: "short" });
    await system.card.create({ id, body: "short" });
  }
  const query = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  const ask = async (path: string): Promise<readonly [number, readonly string[]]> => {
    query.mockClear();
    const { status, body } = await app.as(null).request("GET", `/api/${path}?_limit=3&_total=none`);
    expect(status).toBe(200);
    return [query.mock.calls.length, (body as { body: string }[]).map((one) => one.body)];
  };
  expect(await ask("letters")).toEqual([1, ["short", "short"]]);
  expect(await ask("cards")).toEqual([1, ["short", "short"]]);

  const long = "l".repeat(20_000);
  await system.letter.update("b", { body: long });
  await system.card.update("b", { body: long });
  // The list, the lengths of its values if it did not return them, and the long value.
  expect(await ask("letters")).toEqual([3, ["short", long]]);
  expect(await ask("cards")).toEqual([2, ["short", long]]);
});
