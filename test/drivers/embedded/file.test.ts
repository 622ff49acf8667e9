import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import { ConfigurationError, entity, int, string } from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { DatabaseUnavailableError } from "../../../src/kernel/index.ts";
import { connectDriver, driverContext } from "../../support/connect-driver.ts";
import { freshSqliteFile } from "../../support/databases.ts";

const tag = entity("tag", { name: string, size: int.default(0) }).timestamps(false);
const row = (id: string) => ({ id, name: id, size: 0 });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("the file of the embedded driver", () => {
  let file: string;
  let remove: () => Promise<void>;
  const open: Driver[] = [];

  async function start(path = file): Promise<Driver> {
    const driver = await connectDriver(embedded({ file: path }), [tag]);
    open.push(driver);
    return driver;
  }

  beforeEach(async () => {
    ({ file, remove } = await freshSqliteFile());
  });
  afterEach(async () => {
    for (const driver of open.splice(0)) await driver.disconnect();
    await remove();
  });

  it("is created with its folders, under any name", async () => {
    const path = join(file, "..", "a folder", "100% [ünï] #1?.db");
    const driver = await start(path);
    await driver.create("tag", row("t1"));
    expect((await stat(path)).isFile()).toBe(true);
  });

  it("cannot be a URL; the error names the right driver, and not the URL", () => {
    for (const [url, driver] of [
      ["libsql://secret.turso.io", "@prisma/adapter-libsql"],
      ["postgres://ann:secret@host/db", "postgres(url)"],
      ["file:./secret.db", "with the path alone"],
      ["mysql://ann:secret@host/db", "@prisma/adapter-mariadb"],
    ] as const) {
      expect(() => embedded({ file: url })).toThrow(driver);
      expect(() => embedded({ file: url })).not.toThrow(/secret/);
    }
    expect(() => postgres("file:./secret.db")).toThrow(/begins with "file:"; use embedded\(\{ file \}\)/);
    expect(() => postgres("mysql://ann:secret@host/db")).toThrow("@prisma/adapter-mariadb");
    expect(() => embedded({ file: "C:\\data\\app.db" })).not.toThrow();
  });

  it("keeps its rows from one start to the next", async () => {
    const before = await start();
    await before.create("tag", row("t1"));
    await before.disconnect();
    await before.connect(driverContext([tag]));
    expect(await before.count("tag")).toBe(1);
    await before.disconnect();
    const after = await start();
    expect(await after.findMany("tag")).toEqual([row("t1")]);
  });

  it("keeps two drivers with two files apart", async () => {
    const one = await start();
    const other = await start(join(file, "..", "other.db"));
    await one.create("tag", row("t1"));
    expect(await other.count("tag")).toBe(0);
  });

  it("is written by one caller at a time, and the others do not fail", async () => {
    const drivers = [await start(), await start()];
    const ids = Array.from({ length: 40 }, (_, index) => `t${index}`);
    await Promise.all(
      ids.map((id, index) => {
        const driver = drivers[index % 2] as Driver;
        if (index % 4 < 2) return driver.create("tag", row(id));
        return driver.transaction(async (tx) => {
          const count = await tx.count("tag");
          await sleep(1);
          await tx.create("tag", { ...row(id), size: count });
        });
      }),
    );
    expect(await drivers[0]?.count("tag")).toBe(40);
  });

  it("can be read in its earlier state while another connection writes", async () => {
    const driver = await start();
    await driver.create("tag", row("t1"));
    await driver.transaction(async (tx) => {
      await tx.update("tag", { id: "t1" }, { name: "changed" });
      expect(await driver.findOne("tag", { id: "t1" })).toEqual(row("t1"));
      expect(await driver.findMany("tag")).toEqual([row("t1")]);
      expect((await tx.findOne("tag", { id: "t1" }))?.name).toBe("changed");
    });
    expect((await driver.findOne("tag", { id: "t1" }))?.name).toBe("changed");
  });

  it("is waited for while another process writes, up to a time limit", async () => {
    const driver = await start();
    const other = await new PrismaLibSql({ url: `file:${file}` }).connect();
    const run = (sql: string) => other.queryRaw({ sql, args: [], argTypes: [] });
    await run("BEGIN IMMEDIATE");
    const waiting = [driver.create("tag", row("t1")), driver.transaction((tx) => tx.create("tag", row("t2")))];
    await sleep(300);
    expect(await driver.count("tag")).toBe(0);
    await run("ROLLBACK");
    await Promise.all(waiting);
    expect(await driver.count("tag")).toBe(2);
    await run("BEGIN IMMEDIATE");
    await expect(driver.create("tag", row("t3"))).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await run("ROLLBACK");
    await driver.create("tag", row("t3"));
    await other.dispose();
  });

  it("is unlocked when a transaction hangs", async () => {
    const driver = await start();
    const hanging = driver.transaction(
      async (tx) => {
        await tx.create("tag", row("t1"));
        await new Promise(() => undefined);
      },
      { timeout: 100 },
    );
    const next = driver.create("tag", row("t2"));
    await expect(hanging).rejects.toThrow(/took longer than 100 ms/);
    await next;
    expect(await driver.findMany("tag")).toEqual([row("t2")]);
  });

  it("has a write-ahead log and checks references on every connection", async () => {
    const driver = await start();
    await driver.create("tag", row("t1"));
    expect((await stat(`${file}-wal`)).isFile()).toBe(true);
  });

  it("causes a configuration error when it cannot be opened", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keelson-folder-"));
    await expect(embedded({ file: folder }).connect(driverContext([tag]))).rejects.toBeInstanceOf(ConfigurationError);
    await writeFile(file, "this is a text, not a database ".repeat(100));
    await expect(embedded({ file }).connect(driverContext([tag]))).rejects.toThrow(/cannot open the SQLite file/);
    await mkdir(join(folder, "x"));
    await writeFile(join(folder, "x", "plain"), "");
    const below = embedded({ file: join(folder, "x", "plain", "app.db") });
    await expect(below.connect(driverContext([tag]))).rejects.toBeInstanceOf(ConfigurationError);
    await rm(folder, { recursive: true });
  });

  it("cannot be in memory", () => {
    for (const path of [":memory:", ""]) expect(() => embedded({ file: path })).toThrow(/memoryDriver/);
  });
});

describe("the embedded driver", () => {
  it("reports that it is not connected", async () => {
    const driver = embedded({ file: "never.db" });
    for (const work of [
      () => driver.findMany("tag"),
      () => driver.ping(),
      () => driver.create("tag", row("t1")),
      () => driver.transaction(async () => 1),
      () => driver.schema?.push() ?? Promise.resolve(),
    ])
      await expect(work()).rejects.toThrow(/the embedded driver is not connected/);
    await driver.disconnect();
  });

  it("serves only one app", async () => {
    const { file, remove } = await freshSqliteFile();
    const driver = embedded({ file });
    const context = driverContext([tag]);
    await Promise.all([driver.connect(context), driver.connect(context)]);
    await expect(driver.connect(driverContext([tag]))).rejects.toThrow(/already serves another app/);
    await driver.disconnect();
    await driver.connect(driverContext([tag]));
    await driver.disconnect();
    await remove();
  });
});

/** Runs a program in a process where some packages are not installed. */
async function withoutPackages(names: readonly string[], program: string): Promise<string> {
  const hooks = `export async function resolve(specifier, context, next) {
    const name = ${JSON.stringify(names)}.find((one) => specifier === one || specifier.startsWith(one + "/"));
    if (name === undefined || context.parentURL?.includes("node_modules")) return next(specifier, context);
    throw Object.assign(new Error("Cannot find package '" + name + "' imported from " + context.parentURL), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
  const register = `import { register } from "node:module"; register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hooks)}));`;
  const args = ["--import", "tsx", "--import", `data:text/javascript,${encodeURIComponent(register)}`];
  const child = spawn(process.execPath, [...args, "--input-type=module", "-e", program], {
    cwd: new URL("../../../", import.meta.url),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  return output;
}

describe("drivers whose packages are not installed", () => {
  const connect = (call: string): string => `
    import { embedded, postgres, toPrismaSchema } from "./src/drivers/prisma/index.ts";
    import { createModel, entity, string } from "./src/entity/index.ts";
    const model = createModel([entity("tag", { name: string })]);
    console.log(toPrismaSchema(model, { provider: "sqlite" }).length > 0);
    await ${call}.connect({ model, log: console, production: false }).catch((error) => console.log(error.name, error.message));`;

  it("name all missing packages and the command that installs them", async () => {
    const missing = ["@prisma/adapter-libsql", "@prisma/schema-engine-wasm"];
    const output = await withoutPackages(missing, connect('embedded({ file: "never.db" })'));
    expect(output.trim()).toBe(
      'true\nConfigurationError embedded needs "@prisma/schema-engine-wasm", "@prisma/adapter-libsql". ' +
        "Run: npm i @prisma/schema-engine-wasm @prisma/adapter-libsql",
    );
  });

  it("can be imported without any of them", async () => {
    const all = ["@prisma/client", "@prisma/adapter-pg", "@prisma/adapter-libsql", "pg", "@prisma/get-dmmf"];
    const output = await withoutPackages(all, connect('postgres("postgres://127.0.0.1:1/x")'));
    expect(output).toMatch(/^true\nConfigurationError postgres needs .*"@prisma\/adapter-pg", "pg"\. Run: npm i /);
  });
});
