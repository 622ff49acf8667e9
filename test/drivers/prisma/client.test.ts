import { PrismaLibSql } from "@prisma/adapter-libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AnyPrismaClient, embedded, postgres, prisma } from "../../../src/drivers/prisma/index.ts";
import { type ConfigurationError, entity, string } from "../../../src/entity/index.ts";
import { noopLogger } from "../../../src/kernel/index.ts";
import { driverContext, makeTables } from "../../support/connect-driver.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { generatedClient } from "../../support/generate-client.ts";

interface ExtensibleClient extends AnyPrismaClient {
  $extends(extension: object): AnyPrismaClient;
}

const note = entity("note", { title: string, body: string }).timestamps(false);
const row = { id: "n1", title: "one", body: "text" };

describe("prisma(client)", () => {
  let client: ExtensibleClient;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    const fresh = await freshSqliteFile();
    remove = fresh.remove;
    await makeTables(embedded({ file: fresh.file }), [note]);
    const Client = await generatedClient([note], "sqlite");
    client = new Client({ adapter: new PrismaLibSql({ url: `file:${fresh.file}` }) }) as ExtensibleClient;
  });
  afterEach(async () => {
    await client.$disconnect();
    await remove();
  });

  it("detects the database, unless an option names it", async () => {
    const driver = prisma(client);
    await driver.connect(driverContext([note]));
    expect(driver.capabilities).toEqual({ concurrentTransactions: false, locksInOrder: false, durable: true });
    expect(prisma(client, { provider: "sqlite" }).capabilities.concurrentTransactions).toBe(false);
    expect(prisma(client, { provider: "postgresql" }).capabilities.concurrentTransactions).toBe(true);
  });

  it.each([
    ["6.19.3", ["The client is of Prisma 6.19.3, and only Prisma 7 is tested; upgrade it before production"]],
    ["7.10.0", []],
    [undefined, []],
  ])("warns of a client of an earlier Prisma: %s", async (version, expected) => {
    const warnings: string[] = [];
    const log = { ...noopLogger, warn: (message: string) => void warnings.push(message) };
    const ofVersion = new Proxy(client, {
      get: (target, name) => (name === "_clientVersion" ? version : Reflect.get(target, name)),
    });
    await prisma(ofVersion).connect(driverContext([note], { log }));
    expect(warnings).toEqual(expected);
  });

  it("does not change tables", () => {
    expect(prisma(client).schema).toBeUndefined();
  });

  it("accepts an extended client", async () => {
    const calls: string[] = [];
    const watching = client.$extends({
      query: {
        $allModels: {
          $allOperations({
            operation,
            args,
            query,
          }: {
            operation: string;
            args: unknown;
            query(args: unknown): unknown;
          }) {
            calls.push(operation);
            return query(args);
          },
        },
      },
    });
    const driver = prisma(watching);
    await driver.connect(driverContext([note]));
    await driver.transaction(async (tx) => tx.create("note", row));
    expect(await driver.findOne("note", { id: "n1" })).toEqual(row);
    expect(calls).toEqual(["create", "findFirst"]);
  });

  it("reads no column that the definition does not have", async () => {
    const full = prisma(client);
    await full.connect(driverContext([note]));
    await full.create("note", row);
    const partial = prisma(client);
    await partial.connect(driverContext([entity("note", { title: string }).timestamps(false)]));
    expect(await partial.findMany("note")).toEqual([{ id: "n1", title: "one" }]);
    expect(await partial.update("note", { id: "n1" }, { title: "two" })).toEqual({ id: "n1", title: "two" });
  });

  it("is refused with every missing model and field, and can be connected again", async () => {
    const driver = prisma(client);
    const grown = entity("note", { title: string, text: string, lang: string });
    const failure = await driver.connect(driverContext([grown, entity("tag", { name: string })])).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect((failure as ConfigurationError).problems).toEqual([
      'model note of the Prisma client has no field "text"',
      'model note of the Prisma client has no field "lang"',
      'model note of the Prisma client has no field "createdAt"',
      'model note of the Prisma client has no field "updatedAt"',
      'the Prisma client has no model "tag"',
      expect.stringContaining("toPrismaSchema"),
    ]);
    await driver.connect(driverContext([note]));
    expect(await driver.count("note")).toBe(0);
  });
});

describe("postgres(url)", () => {
  it("needs a connection string to connect, not to be configured", async () => {
    for (const driver of [postgres(""), postgres(undefined)])
      await expect(driver.connect(driverContext([note]))).rejects.toThrow(
        /takes a connection string.*DATABASE_URL, set that/,
      );
  });
});
