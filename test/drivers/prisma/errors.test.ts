import { createServer } from "node:net";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import { ConfigurationError, isKeelsonError } from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import {
  ConflictError,
  DatabaseError,
  DatabaseUnavailableError,
  describeError,
  EntityNotFoundError,
} from "../../../src/kernel/index.ts";
import { connectDriver, driverContext } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { empty, entityNamed, plantBlog, rowOf } from "../../support/driver-contract/database.ts";
import { fixtureEntities } from "../../support/entities.ts";
import { gateTo } from "../../support/tcp-gate.ts";

const CANARY = "hunter2-canary";

async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: Error) => error,
  );
}

/** Everything that a log or a debugger could print of an error, including its causes. */
function printed(error: unknown): string {
  return `${inspect(error, { depth: 12, showHidden: true })} ${JSON.stringify(error)}`;
}

describe.each([
  [
    "embedded",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), drop: remove };
    },
  ],
  [
    "postgres",
    async () => {
      const { url, drop } = await freshPostgres();
      return { driver: postgres(url), drop };
    },
  ],
] as const)("errors of %s", (_, make) => {
  let driver: Driver;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const made = await make();
    drop = made.drop;
    driver = await connectDriver(made.driver, fixtureEntities);
  });
  beforeEach(async () => {
    await empty(driver);
    await plantBlog(driver);
  });
  afterAll(async () => {
    await driver.disconnect();
    await drop();
  });

  it("contain no value, no statement and no text of Prisma's, at any depth", async () => {
    const user = rowOf(entityNamed("user"), { id: CANARY, name: CANARY, email: "ann@example.com" });
    const post = rowOf(entityNamed("post"), { id: CANARY, title: CANARY, authorId: CANARY });
    const failures = await Promise.all(
      [
        driver.create("user", user),
        driver.create("post", post),
        driver.createMany("user", [user, user]),
        driver.create("user", { ...user, email: "new@example.com", name: null }),
        driver.create("user", { ...user, email: "new@example.com", name: undefined }),
        driver.update("user", { id: "u2", name: { ne: CANARY } }, { email: "ann@example.com" }),
        driver.updateMany("post", { title: { ne: CANARY } }, { editorId: CANARY }),
        driver.link("post", "tags", "p1", [CANARY]),
        driver.transaction(async (tx) => tx.create("user", user)),
      ].map(failureOf),
    );
    for (const failure of failures) {
      expect(isKeelsonError(failure)).toBe(true);
      expect(printed(failure)).not.toMatch(new RegExp(`${CANARY}|invocation|INSERT |UPDATE |Argument |SQLITE_`));
    }
    expect(failures.map(({ name }) => name)).toEqual([
      "ConflictError",
      "ValidationFailedError",
      "ConflictError",
      "DatabaseError",
      "DatabaseError",
      "ConflictError",
      "ValidationFailedError",
      "ValidationFailedError",
      "ConflictError",
    ]);
  });

  it("have a cause with the data that the log needs: model, operation and codes", async () => {
    const failure = await failureOf(driver.create("tag", { id: "t9", name: "red" }));
    expect(isKeelsonError(failure.cause) && failure.cause.message).toMatch(
      /^tag\.insert DriverAdapterError P2002 \w+$/,
    );
  });

  it("name an entity that does not exist", async () => {
    expect(await failureOf(driver.findMany("nope"))).toBeInstanceOf(EntityNotFoundError);
  });

  it("refuse values that a column would change when storing them", async () => {
    const sample = rowOf(entityNamed("sample"), {
      ...{ id: "s1", string: "s", text: "t", email: "a@example.com", int: 1, float: 1, bool: true },
      ...{ datetime: new Date(0), json: {}, enum: "low" },
    });
    const wrong = { int: 1.5, float: Number.NaN, string: "half \ud83d", text: "nul \u0000", bool: { set: true } };
    for (const [name, value] of Object.entries({ ...wrong, int2: { increment: 1 } })) {
      const row = { ...sample, [name.replace("2", "")]: value };
      expect.soft(await failureOf(driver.create("sample", row)), name).toBeInstanceOf(DatabaseError);
    }
    expect(await driver.count("sample")).toBe(0);
  });

  it("of work in a transaction are rethrown unchanged", async () => {
    const mine = Object.assign(new Error("mine"), { code: "ECONNREFUSED" });
    expect(await failureOf(driver.transaction(() => Promise.reject(mine)))).toBe(mine);
  });
});

/** A server that refuses every connection with PgBouncer's fatal error for unknown settings. */
async function refusingPooler() {
  const fields = ["SFATAL", "VFATAL", "C08P01", "Munsupported startup parameter: statement_timeout"];
  const body = Buffer.from(`${fields.map((field) => `${field}\0`).join("")}\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([head, body])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `postgres://ann@127.0.0.1:${port}/db`, close: () => server.close() };
}

describe("the log message about a database", () => {
  it("says what to set if a pooler refuses the connection's settings", async () => {
    const pooler = await refusingPooler();
    const failure = await failureOf(postgres(pooler.url).connect(driverContext([])));
    pooler.close();
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure.message).toMatch(/PgBouncer.*ignore_startup_parameters.*statementTimeout/);
    expect(describeError(failure)).toMatchObject({
      cause: {
        sqlState: "08P01",
        message: expect.stringContaining("unsupported startup parameter: statement_timeout"),
      },
    });
  });

  it("quotes the server about connections, with a solution, but never about values", async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url), fixtureEntities);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const raise = async (state: string, message: string) => {
      await admin.query(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${state}'; END $$;
        CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON tag FOR EACH ROW EXECUTE FUNCTION fail()`);
      return describeError(await failureOf(driver.create("tag", { id: "t1", name: CANARY })));
    };
    expect(await raise("26000", 'prepared statement "s1" does not exist')).toMatchObject({
      error: "DatabaseError",
      cause: {
        sqlState: "26000",
        message: expect.stringMatching(/"s1" does not exist: .*preparedStatements: false$/),
      },
    });
    const other = await raise("22P02", CANARY);
    expect(other).toMatchObject({ cause: { sqlState: "22P02" } });
    expect(inspect(other, { depth: 9 })).not.toContain(CANARY);
    await admin.end();
    await driver.disconnect();
    await drop();
  });
});

describe("a missing database", () => {
  it("is unavailable, and the driver can be connected when it is back", async () => {
    const { url, drop } = await freshPostgres();
    const gate = await gateTo(url);
    const driver = postgres(gate.url);
    const context = driverContext(fixtureEntities);
    expect(await failureOf(driver.connect(context))).toBeInstanceOf(DatabaseUnavailableError);
    expect(await failureOf(driver.findMany("tag"))).toBeInstanceOf(ConfigurationError);
    await gate.open();
    await driver.connect(context);
    await driver.schema?.push();
    await driver.ping();
    await gate.close();
    const failures = await Promise.all(
      [
        driver.ping(),
        driver.findMany("tag"),
        driver.findOne("tag", { id: "t1" }),
        driver.create("tag", { id: "t1", name: "one" }),
        driver.transaction(async (tx) => tx.count("tag")),
        driver.schema?.pending() ?? Promise.resolve(),
      ].map(failureOf),
    );
    for (const failure of failures) {
      expect.soft(failure).toBeInstanceOf(DatabaseUnavailableError);
      expect.soft(printed(failure)).not.toContain(new URL(url).pathname.slice(1));
    }
    await gate.open();
    expect(await driver.create("tag", { id: "t1", name: "one" })).toEqual({ id: "t1", name: "one" });
    await driver.disconnect();
    await gate.close();
    await drop();
  });

  it("is unavailable for requests whose connection it ends", async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url), fixtureEntities);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query("BEGIN");
    await admin.query('LOCK TABLE "tag"');
    const waiting = failureOf(driver.findMany("tag"));
    await expect
      .poll(async () => {
        const sql =
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        return (await admin.query(sql)).rowCount;
      })
      .toBe(1);
    expect(await waiting).toBeInstanceOf(DatabaseUnavailableError);
    await admin.end();
    expect(await driver.findMany("tag")).toEqual([]);
    await driver.disconnect();
    await drop();
  });

  it("is unavailable when a statement exceeds its time limit", async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url, { statementTimeout: 200 }), fixtureEntities);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query("BEGIN");
    await other.query('LOCK TABLE "tag"');
    expect(await failureOf(driver.findMany("tag"))).toBeInstanceOf(DatabaseUnavailableError);
    await other.end();
    expect(await driver.findMany("tag")).toEqual([]);
    await driver.disconnect();
    await drop();
  });

  it("is unavailable when no connection is free within the time limit", async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url, { poolSize: 1, connectionTimeout: 200 }), fixtureEntities);
    const failure = await driver.transaction(async (tx) => {
      await tx.count("tag");
      return failureOf(driver.count("tag"));
    });
    expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    expect(await driver.count("tag")).toBe(0);
    await driver.disconnect();
    await drop();
  });

  it("is a configuration error if the server has no such database", async () => {
    const { url, drop } = await freshPostgres();
    await drop();
    const failure = await failureOf(postgres(url).connect(driverContext(fixtureEntities)));
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure.message).toMatch(/no such database/);
    expect(failure.message).not.toContain("postgres://");
  });
});

describe("transactions that block each other", () => {
  it("are repeated until both have completed", async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url), fixtureEntities);
    await driver.createMany("tag", [
      { id: "t1", name: "one" },
      { id: "t2", name: "two" },
    ]);
    let attempts = 0;
    let holding = 0;
    let bothHold: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      bothHold = resolve;
    });
    const swap = (first: string, second: string, mark: string) =>
      driver.transaction(async (tx) => {
        attempts++;
        await tx.update("tag", { id: first }, { name: `${mark}-${first}` });
        if (++holding === 2) bothHold();
        await held;
        await tx.update("tag", { id: second }, { name: `${mark}-${second}` });
        return mark;
      });
    expect(await Promise.all([swap("t1", "t2", "a"), swap("t2", "t1", "b")])).toEqual(["a", "b"]);
    expect(attempts).toBeGreaterThan(2);
    const names = (await driver.findMany("tag")).map((row) => String(row.name).split("-")[0]);
    expect(new Set(names).size).toBe(1);
    await driver.disconnect();
    await drop();
  });

  it("end in a conflict if they always block each other", async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url), fixtureEntities);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION '${CANARY}' USING ERRCODE = '40001'; END $$;
      CREATE TRIGGER lose BEFORE INSERT ON "tag" FOR EACH ROW EXECUTE FUNCTION lose()`);
    await admin.end();
    let attempts = 0;
    const failure = await failureOf(
      driver.transaction(async (tx) => {
        attempts++;
        await tx.create("tag", { id: "t1", name: "one" });
      }),
    );
    expect(failure).toBeInstanceOf(ConflictError);
    expect(printed(failure)).not.toContain(CANARY);
    expect(attempts).toBe(4);
    expect(await failureOf(driver.create("tag", { id: "t1", name: "one" }))).toBeInstanceOf(ConflictError);
    await driver.disconnect();
    await drop();
  });
});
