import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Driver, entity, postgres, string } from "../../../src/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres } from "../../support/databases.ts";
import { mutingProxy } from "../../support/faults/muting-proxy.ts";

const label = entity("label", { name: string }).timestamps(false);
/** Milliseconds until a connection counts as silent: a statement's time limit, plus a second. */
const STATEMENT = 200;
const SILENT = STATEMENT + 1_000;

describe("silence of a connection", () => {
  let database: Awaited<ReturnType<typeof freshPostgres>>;
  let proxy: Awaited<ReturnType<typeof mutingProxy>>;
  let driver: Driver;

  beforeAll(async () => {
    database = await freshPostgres();
    proxy = await mutingProxy(database.url);
    driver = await connectDriver(postgres(proxy.url, { poolSize: 1, statementTimeout: STATEMENT }), [label]);
  });
  afterAll(async () => {
    await driver.disconnect();
    await proxy.close();
    await database.drop();
  });

  it("does not count between the statements of a transaction", async () => {
    const made = await driver.transaction(async (tx) => {
      await tx.create("label", { id: "a", name: "first" });
      await wait(SILENT + 300);
      return tx.update("label", { id: "a" }, { name: "second" });
    });
    expect(made).toEqual({ id: "a", name: "second" });
  });

  it("ends a transaction with a pending statement, and its connection", async () => {
    const asking = driver.transaction(async (tx) => {
      await tx.create("label", { id: "b", name: "lost" });
      proxy.mute();
      return tx.findOne("label", { id: "b" });
    });
    const begun = performance.now();
    await expect(asking).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    expect(performance.now() - begun).toBeLessThan(2 * SILENT);
    expect(await driver.findOne("label", { id: "b" })).toBeNull();
    expect(await driver.findOne("label", { id: "a" })).toEqual({ id: "a", name: "second" });
  });
});
