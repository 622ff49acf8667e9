import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { prisma } from "../../../src/drivers/prisma/index.ts";
import { belongsTo, bool, ConfigurationError, entity, hasMany, int, string } from "../../../src/entity/index.ts";
import type { Where } from "../../../src/gate/index.ts";
import {
  ConflictError,
  DatabaseUnavailableError,
  ReferencedError,
  ValidationFailedError,
} from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { connectDriver, driverContext } from "../../support/connect-driver.ts";
import { freshMysql } from "../../support/databases.ts";
import { plantBlog } from "../../support/driver-contract/database.ts";
import { emptierOfMysql } from "../../support/driver-contract/emptiers.ts";
import { dropShared, openOwn, openShared } from "../../support/driver-contract/mariadb.ts";
import { testDriver } from "../../support/driver-contract.ts";
import { fixtureEntities } from "../../support/entities.ts";
import { generatedClient } from "../../support/generate-client.ts";
import { askMysql, whyNoMysql } from "../../support/mysql-server.ts";
import { oneOf } from "../../support/suite.ts";
import { gateTo } from "../../support/tcp-gate.ts";

const reason = await whyNoMysql();

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

afterAll(dropShared);

describe.skipIf(reason !== undefined)(`MariaDB${reason === undefined ? "" : ` (${reason})`}`, () => {
  describe.each([
    ["a generated client", false],
    ["a client's adapter", true],
  ] as const)("%s on MariaDB", (name, isDirect) => {
    testDriver(
      `${name} on MariaDB`,
      async (entities) => {
        const { url, drop, driverAt } = await openOwn();
        const driver = await connectDriver(driverAt(url, isDirect), entities);
        const { empty, end } = await emptierOfMysql(url);
        return { driver, empty, close: () => Promise.all([driver.disconnect(), end()]).then(drop) };
      },
      { keepsDeletedValues: true, firstYear: 1000, turn: isDirect ? 1 : 0 },
    );

    const ends: (() => Promise<unknown>)[] = [];

    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });

    async function connected() {
      const { url, drop, driverAt } = await openShared();
      ends.push(drop);
      const driver = await connectDriver(driverAt(url, isDirect), fixtureEntities);
      ends.push(() => driver.disconnect());
      return { driver, url };
    }

    it.each(oneOf(isDirect ? 1 : 0, ["utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci"]))(
      "is refused on tables that compare text like %s",
      async (collation) => {
        const { url, drop, driverAt } = await openOwn(collation);
        ends.push(drop);
        const driver = driverAt(url, isDirect);
        const failure = await failureOf(driver.connect(driverContext(fixtureEntities)));
        expect(failure).toBeInstanceOf(ConfigurationError);
        const { problems } = failure as ConfigurationError;
        expect(problems).toHaveLength(11);
        expect(problems).toContain(
          'table "user" compares text without regard to case or to spaces at the end; give it COLLATE utf8mb4_nopad_bin (docs/guides/migrations.md, "MySQL and MariaDB")',
        );
      },
    );

    it(`${isDirect ? "compares text exactly" : "is refused"} on existing tables of another collation`, async () => {
      const { url, drop } = await freshMysql();
      ends.push(drop);
      await askMysql(url, [
        "create table words (code varchar(20) primary key, word varchar(20) not null, lang varchar(2) not null) collate utf8mb4_general_ci",
        "create table uses (code varchar(20), nth int, kind varchar(20) not null, primary key (code, nth)) collate utf8mb4_general_ci",
        "insert into words values ('a', 'red', 'en'), ('b', 'Red', 'EN'), ('c', 'red ', 'en'), ('d', 'Ärger', 'de')",
        "insert into uses values ('a', 1, 'x'), ('b', 1, 'X')",
      ]);
      const word = entity("word", { word: string.max(20), lang: string.max(2) })
        .id(string.column("code"))
        .table("words")
        .timestamps(false)
        .existing();
      const use = entity("use", { code: string.max(20), nth: int, kind: string.max(20) })
        .id(["code", "nth"])
        .table("uses")
        .timestamps(false)
        .existing();
      const Client = await generatedClient([word, use], "mysql");
      const adapter = new PrismaMariaDb(url);
      const driver = prisma(new Client({ adapter }), isDirect ? { adapter } : {});
      ends.push(() => driver.disconnect());
      if (!isDirect) {
        const failure = await failureOf(driver.connect(driverContext([word, use])));
        expect((failure as ConfigurationError).problems).toContainEqual(
          expect.stringMatching(/give it COLLATE utf8mb4_nopad_bin, or give the driver the client's adapter/),
        );
        return;
      }
      const log = recordingLogger();
      await driver.connect(driverContext([word, use], { log }));
      expect(log.lines).toEqual([expect.stringMatching(/^warn Existing tables compare text inexactly.*"words"/)]);
      const found = async (where: Where) => (await driver.findMany("word", { where })).map(({ id }) => id);
      expect(await found({ word: "red" })).toEqual(["a"]);
      expect(await found({ word: { in: ["RED", "red "] } })).toEqual(["c"]);
      expect(await found({ word: { ne: "red" }, lang: { nin: ["de"] } })).toEqual(["b", "c"]);
      expect(await found({ word: { like: "RED" } })).toEqual(["a", "b", "c"]);
      expect(await found({ word: { like: "arg" } })).toEqual([]);
      expect(await driver.findOne("word", { id: "A" })).toBeNull();
      expect(await driver.update("word", { id: "A" }, { lang: "fr" })).toBeNull();
      const sorted = await driver.findMany("word", { sort: [{ field: "word", direction: "asc" }] });
      expect(sorted.map(({ word: text }) => text)).toEqual(["Red", "red", "red ", "Ärger"]);
      expect(await driver.findOne("use", { id: "A~1" })).toBeNull();
      expect(await driver.findOne("use", { id: "a~1" })).toMatchObject({ kind: "x" });
      expect(await driver.count("use", { id: { in: ["A~1", "b~1"] } })).toBe(1);
    });

    it("changes records with composite ids whose condition looks at their own table", async () => {
      const { url, drop } = await freshMysql();
      ends.push(drop);
      await askMysql(url, [
        "create table hall (id varchar(20) primary key) collate utf8mb4_nopad_bin",
        "create table seat (place varchar(20), nth int, hallId varchar(20) not null references hall (id), taken bool not null, primary key (place, nth)) collate utf8mb4_nopad_bin",
        "insert into hall values ('h'), ('i')",
        "insert into seat values ('a', 1, 'h', false), ('a', 2, 'h', true), ('b', 1, 'i', false)",
      ]);
      const hall = entity("hall", { seats: hasMany(() => seat) })
        .table("hall")
        .timestamps(false)
        .existing();
      const seat = entity("seat", { place: string.max(20), nth: int, taken: bool, hall: belongsTo(() => hall) })
        .id(["place", "nth"])
        .table("seat")
        .timestamps(false)
        .existing();
      const Client = await generatedClient([hall, seat], "mysql");
      const adapter = new PrismaMariaDb(url);
      const driver = prisma(new Client({ adapter }), isDirect ? { adapter } : {});
      ends.push(() => driver.disconnect());
      const connecting = driver.connect(driverContext([hall, seat]));
      if (!isDirect) return expect(connecting).rejects.toThrow("need the client's adapter");
      await connecting;
      const where = (id: string): Where => ({ id, hall: { seats: { some: { taken: true } } } });
      expect(await driver.update("seat", where("a~1"), { taken: true })).toMatchObject({ id: "a~1", taken: true });
      expect(await driver.update("seat", where("b~1"), { taken: true })).toBeNull();
      expect(await driver.delete("seat", where("b~1"))).toBe(false);
      expect(await driver.delete("seat", where("a~2"))).toBe(true);
      expect((await driver.findMany("seat")).map(({ id }) => id)).toEqual(["a~1", "b~1"]);
    });

    it("distinguishes texts that differ in case or in trailing spaces", async () => {
      const { driver } = await connected();
      await driver.createMany("tag", [
        { id: "t1", name: "red" },
        { id: "t2", name: "Red" },
        { id: "T1", name: "red " },
      ]);
      expect(await driver.count("tag", { name: "red" })).toBe(1);
      expect(await driver.count("tag", { name: { like: "RED" } })).toBe(3);
    });

    it("is refused on tables whose columns have other types", async () => {
      const { url, drop, driverAt } = await openOwn();
      ends.push(drop);
      await askMysql(url, ["ALTER TABLE `tag` MODIFY `name` VARCHAR(20) NOT NULL, ADD COLUMN `legacy` INT NOT NULL"]);
      const driver = driverAt(url, isDirect);
      const failure = await failureOf(driver.connect(driverContext(fixtureEntities)));
      ends.push(() => driver.disconnect());
      // The client does not report a column's length, or other columns.
      expect((failure as ConfigurationError | undefined)?.problems).toEqual(
        isDirect
          ? [
              expect.stringContaining('table "tag": column "name" has the type varchar(20)'),
              expect.stringContaining('table "tag": column "legacy" is required, has no default'),
            ]
          : undefined,
      );
    });

    it("declares that deleted records keep their unique values", async () => {
      const { url, drop, driverAt } = await openShared();
      ends.push(drop);
      const driver = driverAt(url, isDirect);
      const log = recordingLogger();
      await driver.connect(driverContext(fixtureEntities, { log }));
      ends.push(() => driver.disconnect());
      expect(log.lines).toEqual([
        'warn MySQL cannot free the unique values of records that are softly deleted {"entity":"seat","fields":["code","userId","row, place"]}',
      ]);
    });

    it("shows each statement of a transaction what was committed before it", async () => {
      const { driver, url } = await connected();
      await plantBlog(driver);
      const isAnns = { id: "p1", author: { name: "Changed" } };
      await driver.transaction(async (tx) => {
        expect(await tx.count("post", isAnns)).toBe(0);
        await askMysql(url, ["UPDATE `user` SET `name` = 'Changed'"]);
        expect(await tx.update("post", isAnns, { id: "p1" })).toMatchObject({ id: "p1" });
        expect(await tx.count("post", isAnns)).toBe(1);
      });
    });

    it("reports what was wrong with a write, and names the fields", async () => {
      const { driver } = await connected();
      await plantBlog(driver);
      const repeated = await failureOf(driver.update("user", { id: "u2" }, { email: "ann@example.com" }));
      expect(repeated).toBeInstanceOf(ConflictError);
      expect((repeated as ConflictError).fields).toEqual(["email"]);
      const dangling = await failureOf(driver.update("post", { id: "p1" }, { editorId: "nope" }));
      expect(dangling).toBeInstanceOf(ValidationFailedError);
      expect(Object.keys((dangling as ValidationFailedError).errors)).toEqual(["editorId"]);
      expect(await failureOf(driver.delete("user", { id: "u1" }))).toBeInstanceOf(ReferencedError);
    });

    it("repeats transactions that block each other, until both have completed", async () => {
      const { driver } = await connected();
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
    });

    it("is unavailable while the server is, and continues when it is back", async () => {
      const { url, drop, driverAt } = await openShared();
      ends.push(drop);
      const gate = await gateTo(url);
      await gate.open();
      const driver = await connectDriver(
        driverAt(`${gate.url}?connectTimeout=1000&acquireTimeout=1500&initializationTimeout=1000`, isDirect),
        fixtureEntities,
      );
      ends.push(
        () => driver.disconnect(),
        () => gate.close(),
      );
      await driver.create("tag", { id: "t1", name: "one" });
      await gate.close();
      const failures = await Promise.all(
        [
          driver.ping(),
          driver.findMany("tag"),
          driver.create("tag", { id: "t2", name: "two" }),
          driver.update("tag", { id: "t1" }, { name: "uno" }),
          driver.transaction(async (tx) => tx.count("tag")),
        ].map(failureOf),
      );
      for (const failure of failures) expect.soft(failure).toBeInstanceOf(DatabaseUnavailableError);
      await gate.open();
      await expect.poll(() => driver.count("tag"), { timeout: 15_000 }).toBe(1);
    });
  });
});
