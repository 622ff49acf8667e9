import { spawn } from "node:child_process";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { embedded } from "../../../src/drivers/prisma/index.ts";
import { type EntityLike, entity, int, string } from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import { freshSqliteFile } from "../../support/databases.ts";

const tag = entity("tag", { name: string, size: int.default(0) }).timestamps(false);
const wider = entity("tag", { name: string, size: int.default(0), colour: string.optional() }).timestamps(false);

describe("an embedded database whose tables were up to date at the last start", () => {
  let file: string;
  let remove: () => Promise<void>;
  const open: Driver[] = [];

  async function start(entities: readonly EntityLike[] = [tag], production = false): Promise<Driver> {
    for (const driver of open.splice(0)) await driver.disconnect();
    const driver = embedded({ file });
    await driver.connect(driverContext(entities, { production }));
    open.push(driver);
    return driver;
  }
  async function byHand(sql: string): Promise<void> {
    for (const driver of open.splice(0)) await driver.disconnect();
    const connection = await new PrismaLibSql({ url: `file:${file}` }).connect();
    await connection.executeScript(sql);
    await connection.dispose();
  }
  const push = async (driver: Driver) => driver.schema?.push();
  const pending = async (driver: Driver) => driver.schema?.pending();

  beforeEach(async () => {
    ({ file, remove } = await freshSqliteFile());
    await push(await start());
  });
  afterEach(async () => {
    for (const driver of open.splice(0)) await driver.disconnect();
    await remove();
  });

  /** Starts in a process without the packages that compare and change tables. */
  async function startWithoutEngine(): Promise<string> {
    const program = `
      import { register } from "node:module";
      const hooks = \`export async function resolve(specifier, context, next) {
        if (!/schema-engine-wasm|get-dmmf/.test(specifier)) return next(specifier, context);
        throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: "ERR_MODULE_NOT_FOUND" });
      }\`;
      register("data:text/javascript," + encodeURIComponent(hooks));
      const { embedded } = await import("./src/drivers/prisma/index.ts");
      const { createModel, entity, int, string } = await import("./src/entity/index.ts");
      const model = createModel([entity("tag", { name: string, size: int.default(0) }).timestamps(false)]);
      for (const production of [false, true]) {
        const driver = embedded({ file: ${JSON.stringify(file)} });
        await driver.connect({ model, log: console, production });
        console.log(JSON.stringify([await driver.schema.push(), await driver.schema.pending(), await driver.count("tag")]));
        await driver.disconnect();
      }`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      cwd: new URL("../../../", import.meta.url),
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    await new Promise((resolve) => child.on("close", resolve));
    return output.trim();
  }

  it("is opened without the schema engine, in production too", async () => {
    const fits = '[{"changed":false},[],0]';
    expect(await startWithoutEngine()).toBe(`${fits}\n${fits}`);
  });

  it("is compared again when an entity changed, and when it changed back", async () => {
    expect(await pending(await start([wider]))).toEqual(['table "tag" lacks column "colour"']);
    expect(await push(await start([wider]))).toEqual({ changed: true });
    expect(await push(await start([wider]))).toEqual({ changed: false });
    expect(await pending(await start([tag]))).toHaveLength(1);
  });

  it("is compared again when its tables were changed by hand", async () => {
    await byHand('ALTER TABLE "tag" DROP COLUMN "size"');
    expect(await pending(await start([tag], true))).toEqual(['table "tag" differs from its entity']);
    expect(await push(await start())).toEqual({ changed: true });
    await byHand('CREATE UNIQUE INDEX "tag_name_key" ON "tag"("name")');
    expect(await pending(await start())).toHaveLength(1);
    await byHand('DROP TABLE "tag"');
    expect(await pending(await start())).toEqual(['table "tag" is missing']);
    expect(await push(await start())).toEqual({ changed: true });
  });

  it("is compared again when another file replaced it", async () => {
    await byHand("PRAGMA wal_checkpoint(TRUNCATE)");
    await rm(file);
    await byHand('CREATE TABLE "tag" ("id" TEXT NOT NULL PRIMARY KEY)');
    expect(await pending(await start())).toHaveLength(1);
  });

  it("is compared again if the stamp is missing or different", async () => {
    const remembered = await readFile(`${file}-schema`, "utf8");
    await writeFile(`${file}-schema`, "something else");
    expect(await push(await start())).toEqual({ changed: false });
    expect(await readFile(`${file}-schema`, "utf8")).toBe(remembered);
    await rename(`${file}-schema`, `${file}-gone`);
    expect(await pending(await start())).toEqual([]);
    expect(await readFile(`${file}-schema`, "utf8")).toBe(remembered);
  });

  it("starts if the stamp cannot be written", async () => {
    await rm(`${file}-schema`);
    await mkdir(`${file}-schema`);
    expect(await push(await start())).toEqual({ changed: false });
    expect(await (await start()).count("tag")).toBe(0);
  });

  it("is still refused when Prisma refuses the entities", async () => {
    const reserved = entity("async", { name: string }).timestamps(false);
    await expect(start([reserved])).rejects.toThrow(/P1012/);
  });
});
