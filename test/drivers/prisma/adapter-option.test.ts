import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embedded, postgres, prisma, sharedAdapter } from "../../../src/drivers/prisma/index.ts";
import { ConfigurationError, entity, int, string } from "../../../src/entity/index.ts";
import { DatabaseUnavailableError } from "../../../src/kernel/index.ts";
import { driverContext, makeTables } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { mutingProxy } from "../../support/faults/muting-proxy.ts";
import { clientOfSchema, generatedClient } from "../../support/generate-client.ts";

const note = entity("note", { title: string }).timestamps(false);
const row = { id: "n1", title: "one" };

interface Asking {
  $queryRawUnsafe(sql: string): Promise<Record<string, unknown>[]>;
  $disconnect(): Promise<void>;
}

describe("prisma(client, { adapter })", () => {
  let url: string;
  let drop: () => Promise<void>;
  let Client: Awaited<ReturnType<typeof generatedClient>>;

  beforeAll(async () => {
    ({ url, drop } = await freshPostgres());
    await makeTables(postgres(url), [note]);
    Client = await generatedClient([note], "postgresql");
  });
  afterAll(() => drop());

  /** A client and a driver over it that share one connection. */
  function made() {
    const adapter = sharedAdapter(new PrismaPg({ connectionString: url, max: 1, connectionTimeoutMillis: 500 }));
    const client = new Client({ adapter });
    return { client: client as unknown as Asking, driver: prisma(client, { adapter }) };
  }

  it("shares the connections of the client, whichever opens first", async () => {
    for (const asksFirst of [true, false]) {
      const { client, driver } = made();
      const ask = () => client.$queryRawUnsafe("SELECT pg_backend_pid() AS pid");
      const before = asksFirst ? await ask() : undefined;
      await driver.connect(driverContext([note]));
      await driver.count("note");
      const [{ pid } = {}] = await ask();
      if (before !== undefined) expect(before[0]?.pid).toBe(pid);
      await driver.transaction(async (inner) => {
        await inner.create("note", { ...row, id: `n${asksFirst}` });
        await expect(ask()).rejects.toThrow(/timeout/i);
      });
      await driver.disconnect();
    }
  });

  it("can be connected again, and leaves no connection open", async () => {
    const { driver } = made();
    for (let time = 0; time < 2; time++) {
      await driver.connect(driverContext([note]));
      await driver.ping();
      await driver.disconnect();
    }
    const { client } = made();
    const left = client.$queryRawUnsafe(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    expect(await left).toEqual([{ n: 0 }]);
    await client.$disconnect();
  });

  it("continues when the server ends connections between two statements", async () => {
    const proxy = await mutingProxy(url);
    const adapter = sharedAdapter(new PrismaPg({ connectionString: proxy.url, max: 2 }));
    const driver = prisma(new Client({ adapter }), { adapter });
    await driver.connect(driverContext([note]));
    await Promise.all([driver.count("note"), driver.count("note")]);
    const stop = proxy.endIdle();
    const counts = () => Array.from({ length: 6 }, () => driver.transaction((inner) => inner.count("note")));
    const failures = (await Promise.allSettled(counts())).flatMap((one) =>
      one.status === "rejected" ? [one.reason] : [],
    );
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    stop();
    expect(new Set(await Promise.all(counts())).size).toBe(1);
    await driver.disconnect();
    await proxy.close();
  });

  it("is refused if tables have other names than models", async () => {
    const { file, remove } = await freshSqliteFile();
    const Sqlite = await generatedClient([note], "sqlite");
    const adapter = new PrismaLibSql({ url: `file:${file}` });
    const driver = prisma(new Sqlite({ adapter }), { adapter });
    const failure = await driver.connect(driverContext([note])).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).problems).toEqual([
      'there is no table "note", or it does not have all columns of the entity',
      expect.stringContaining("@@map"),
    ]);
    await makeTables(embedded({ file }), [note]);
    await driver.connect(driverContext([note]));
    expect(await driver.create("note", row)).toEqual(row);
    await driver.disconnect();
    await remove();
  });

  it("is refused if columns have other types than fields, with the adapter and without", async () => {
    const { file, remove } = await freshSqliteFile();
    const Sqlite = await clientOfSchema(
      `generator client {\n  provider = "prisma-client"\n  output = "."\n}\ndatasource db {\n  provider = "sqlite"\n}
      model note {\n  id Int @id\n  title String\n  words BigInt\n}`,
      "sqlite",
    );
    const adapter = new PrismaLibSql({ url: `file:${file}` });
    const client = new Sqlite({ adapter }) as unknown as Asking;
    await client.$queryRawUnsafe(
      'CREATE TABLE note (id INTEGER PRIMARY KEY, title BLOB NOT NULL, words BIGINT NOT NULL, "by" TEXT NOT NULL)',
    );
    const entities = [entity("note", { title: string, words: int }).timestamps(false)];
    const problems = async (options: { adapter?: typeof adapter }) => {
      const driver = prisma(client as never, options);
      return ((await driver.connect(driverContext(entities)).catch((error) => error)) as ConfigurationError).problems;
    };
    expect(await problems({})).toEqual([
      'model note of the Prisma client has "id" of the type Int, and String is expected; change the column\'s type',
      expect.stringContaining('has "words" of the type BigInt, and Int is expected'),
      expect.stringContaining("toPrismaSchema"),
    ]);
    const Fitting = await generatedClient(entities, "sqlite");
    const driver = prisma(new Fitting({ adapter }), { adapter });
    const failure = await driver.connect(driverContext(entities)).catch((error) => error);
    expect((failure as ConfigurationError).problems).toEqual([
      expect.stringContaining('column "id" has the type integer, and text is expected'),
      expect.stringContaining('column "title" has the type blob, and text is expected'),
      expect.stringContaining('column "by" is required, has no default'),
    ]);
    await client.$disconnect();
    await remove();
  });

  it("accepts an adapter of a supported database that matches the named one", () => {
    const adapter = new PrismaPg({ connectionString: url });
    const client = new Client({ adapter });
    const other = { provider: "sqlserver", adapterName: "mssql", connect: () => Promise.reject(new Error("unused")) };
    expect(() => prisma(client, { adapter: other })).toThrow(ConfigurationError);
    expect(() => prisma(client, { adapter, provider: "sqlite" })).toThrow(ConfigurationError);
  });

  it("locks records of a list in order on PostgreSQL, as the client does", () => {
    const adapter = new PrismaPg({ connectionString: url });
    const client = new Client({ adapter });
    expect(prisma(client, { adapter }).capabilities.locksInOrder).toBe(true);
    expect(prisma(client, { provider: "postgresql" }).capabilities.locksInOrder).toBe(true);
  });
});
