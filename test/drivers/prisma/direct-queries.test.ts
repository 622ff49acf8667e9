import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Driver, entity, postgres, string } from "../../../src/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres } from "../../support/databases.ts";

const label = entity("label", { name: string.unique() }).timestamps(false);

describe("statements that fail on postgres(url)", () => {
  let database: Awaited<ReturnType<typeof freshPostgres>>;
  let driver: Driver;

  beforeAll(async () => {
    database = await freshPostgres();
    driver = await connectDriver(postgres(database.url, { poolSize: 3 }), [label]);
    await driver.create("label", { id: "a", name: "taken" });
  });
  afterAll(async () => {
    await driver.disconnect();
    await database.drop();
  });

  it("give the reason for the refusal, and leave no trace on the pool", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    for (let i = 0; i < 30; i++)
      await expect(driver.create("label", { id: `b${i}`, name: "taken" })).rejects.toMatchObject({
        code: "CONFLICT",
        fields: ["name"],
      });
    await new Promise((resolve) => setImmediate(resolve)); // warnings are emitted asynchronously
    process.off("warning", note);
    expect(warnings).toEqual([]);
    expect(await driver.findOne("label", { name: "taken" })).toEqual({ id: "a", name: "taken" });
  });
});
