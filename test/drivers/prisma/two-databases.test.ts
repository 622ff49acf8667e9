import { expect, it, onTestFinished } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import { bool, datetime, entity } from "../../../src/entity/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";

it("an entity in two databases of one process is read as each of them writes it", async () => {
  const server = await freshPostgres();
  const sqlite = await freshSqliteFile();
  // The same definition: two apps may share it.
  const flag = entity("flag", { isSet: bool, at: datetime }).timestamps(false).build();
  const drivers = [
    await connectDriver(postgres(server.url), [flag]),
    await connectDriver(embedded({ file: sqlite.file }), [flag]),
  ];
  onTestFinished(async () => {
    for (const driver of drivers) await driver.disconnect();
    await server.drop();
    await sqlite.remove();
  });
  const row = { id: "f1", isSet: true, at: new Date("2026-01-02T03:04:05.678Z") };
  for (const driver of drivers) {
    expect(await driver.create("flag", { ...row })).toEqual(row);
    expect(await driver.findMany("flag")).toEqual([row]);
    expect(await driver.findMany("flag", { select: ["isSet"] })).toEqual([{ isSet: true }]);
  }
});
