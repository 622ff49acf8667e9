import { expect, it, onTestFinished, vi } from "vitest";
import { entity, string } from "../../../src/entity/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import { freshSqliteFile } from "../../support/databases.ts";

const note = entity("note", { title: string });

/** A driver whose modules are loaded again, as bundlers and development servers do. */
async function openAnew() {
  vi.resetModules();
  const { embedded } = await import("../../../src/drivers/prisma/index.ts");
  const { file, remove } = await freshSqliteFile();
  const driver = embedded({ file });
  await driver.connect(driverContext([note]));
  onTestFinished(() => driver.disconnect().then(remove));
  return driver;
}

it("compares tables with one engine, however often its modules are loaded", async () => {
  const first = await openAnew();
  expect(await first.schema?.push()).toEqual({ changed: true });
  const second = await openAnew();
  // Each runs while the other is in progress.
  const asked = Array.from({ length: 8 }, () => [first, second]).flat();
  const changes = await Promise.all(asked.map((driver) => driver.schema?.pending()));
  expect(changes.slice(0, 2)).toEqual([[], ['table "note" is missing']]);
  expect(await second.schema?.push()).toEqual({ changed: true });
});
