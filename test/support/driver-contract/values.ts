import { describe, expect, it } from "vitest";
import { type AnyEntity, isKeelsonError } from "../../../src/entity/index.ts";
import type { Row } from "../../../src/gate/index.ts";
import { DatabaseError } from "../../../src/kernel/index.ts";
import { someOf } from "../suite.ts";
import { type Database, entityNamed, plantBlog, rowOf } from "./database.ts";

const sample: AnyEntity = entityNamed("sample");

function sampleRow(values: Row = {}): Row {
  const required = {
    id: "s1",
    string: "s",
    text: "t",
    email: "a@example.com",
    int: 1,
    float: 1.5,
    bool: true,
    datetime: new Date("2024-05-31T12:00:00.123Z"),
    json: { a: 1 },
    enum: "low",
  };
  return rowOf(sample, { ...required, ...values });
}

const TEXTS = [
  "",
  " ",
  "  both ends  ",
  "tab\tline\r\nquote ' \" ` --",
  '\'; drop table "sample"; --',
  "null",
  "100% _ \\ \\\\ [a-z]",
  "日本語 ünïcödé Ж",
  "e\u0301 is not é",
  "👩‍👩‍👧 😀",
  "\u007f\u200b\ufeff\ufffd",
  "a".repeat(255),
  "😀".repeat(255),
];

/** Values that each column must return unchanged. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: TEXTS,
  text: [...TEXTS, "long ".repeat(20_000)],
  email: ["a@example.com", "First.Last+tag@Sub.Example.COM"],
  int: [0, 1, -1, 2_147_483_647, -2_147_483_648],
  float: [0, 1.5, -1.5, 0.1 + 0.2, 1 / 3, 1e21, -1e-7, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Number.MIN_VALUE],
  bool: [true, false],
  datetime: [
    "1970-01-01T00:00:00.000Z",
    "2024-02-29T23:59:59.999Z",
    "2024-05-31T12:00:00.001Z",
    "1969-12-31T23:59:59.999Z",
    "1582-10-04T00:00:00.000Z",
    "0001-01-01T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z",
  ].map((text) => new Date(text)),
  json: [
    {},
    [],
    "",
    "null",
    '{"a":1}',
    0,
    1.5,
    false,
    true,
    [null, [], {}],
    { a: null, b: [1, "2", { c: [true, null] }], "": "", "ключ 😀": "знач" },
    { constructor: { prototype: { polluted: true } } },
    { id: "x", where: { AND: [] }, set: 1, equals: null },
    "2024-01-01T00:00:00.000Z",
  ],
  enum: ["low", "high"],
};

const optional = (name: string): string => `optional${name[0]?.toUpperCase()}${name.slice(1)}`;
const show = (value: unknown): string => (JSON.stringify(value) ?? "undefined").slice(0, 40);

/** Every kind of value is returned as it was stored. */
export function describeValues(database: Database): void {
  const { firstYear = 1 } = database;
  const isKept = (value: unknown): boolean => !(value instanceof Date) || value.getUTCFullYear() >= firstYear;
  describe("values", () => {
    if (firstYear > 1)
      it("of a year that the database does not support are refused, and nothing is stored", async () => {
        const { driver } = database;
        const early = new Date(Date.UTC(firstYear - 1, 11, 31));
        for (const name of ["datetime", "optionalDatetime"])
          await expect(driver.create("sample", sampleRow({ [name]: early }))).rejects.toMatchObject({
            errors: { [name]: `must not be before the year ${firstYear}` },
          });
        expect(await driver.count("sample")).toBe(0);
      });

    describe.each(Object.entries(VALUES))("of kind %s", (name, all) => {
      const values = all.filter(isKept);
      it.each(someOf(values, 3).map((value) => [show(value), value] as const))("keep %s", async (_, value) => {
        const { driver } = database;
        const given = sampleRow({ [name]: value, [optional(name)]: value });
        expect(await driver.create("sample", given)).toEqual(given);
        expect(await driver.findOne("sample", { id: "s1" })).toEqual(given);
        const emptied = await driver.update("sample", { id: "s1" }, { [optional(name)]: null });
        expect(emptied).toEqual({ ...given, [optional(name)]: null });
        expect(await driver.update("sample", { id: "s1" }, { [optional(name)]: value })).toEqual(given);
        expect(await driver.findMany("sample")).toEqual([given]);
      });

      it("are kept when created together, and found by equality", async () => {
        const { driver } = database;
        const column = sample.columns[name];
        const rows = values.map((value, index) =>
          sampleRow({ id: `s${10 + index}`, [name]: value, [optional(name)]: value }),
        );
        await driver.createMany("sample", rows);
        expect(await driver.findMany("sample", { sort: [{ field: "id", direction: "asc" }] })).toEqual(rows);
        if (!column?.kind.operators.has("eq")) {
          expect(await driver.count("sample", { [name]: { null: false } })).toBe(values.length);
          return;
        }
        for (const [index, value] of values.entries()) {
          const found = await driver.findMany("sample", { where: { [name]: value }, select: ["id"] });
          expect(found, show(value)).toEqual([{ id: `s${10 + index}` }]);
        }
      });
    });

    it("that are absent from optional columns read as null", async () => {
      const { driver } = database;
      const given = Object.entries(sampleRow()).filter(([, value]) => value !== null);
      expect(await driver.create("sample", Object.fromEntries(given))).toEqual(sampleRow());
      expect(await driver.findOne("sample", { id: "s1" })).toEqual(sampleRow());
    });

    it("are returned in a plain object of their own, with a property per column", async () => {
      const { driver } = database;
      const given = sampleRow({ optionalJson: { list: [1] } });
      const stored = await driver.create("sample", given);
      const read = (await driver.findOne("sample", { id: "s1" })) as Row;
      expect(Object.keys(read).sort()).toEqual(Object.keys(sample.columns).sort());
      for (const row of [given, stored, read]) {
        (row.optionalJson as { list: number[] }).list.push(2);
        (row.datetime as Date).setFullYear(1999);
      }
      expect(await driver.findOne("sample", { id: "s1" })).toEqual(sampleRow({ optionalJson: { list: [1] } }));
    });

    it.each([
      ["a required column that is null", { string: null }],
      ["a required column that is absent", { string: undefined }],
      ["a name that is no column", { nope: 1 }],
    ])("are refused with a DatabaseError when there is %s", async (_, values) => {
      const { driver } = database;
      const row = Object.fromEntries(Object.entries(sampleRow(values)).filter(([, value]) => value !== undefined));
      await expect(driver.create("sample", row)).rejects.toBeInstanceOf(DatabaseError);
      expect(await driver.count("sample")).toBe(0);
    });

    it("of wrong columns are refused on update too", async () => {
      const { driver } = database;
      await plantBlog(driver);
      await expect(driver.update("post", { id: "p1" }, { nope: 1 })).rejects.toBeInstanceOf(DatabaseError);
      await expect(driver.update("post", { id: "p1" }, { title: null })).rejects.toBeInstanceOf(DatabaseError);
      await expect(driver.updateMany("post", { id: "p1" }, { nope: 1 })).rejects.toBeInstanceOf(DatabaseError);
    });

    it("never appear in an error's message", async () => {
      const { driver } = database;
      const secret = "hunter2-canary";
      const failure = await driver
        .create("sample", sampleRow({ string: secret, int: null }))
        .catch((error: unknown) => error);
      expect(isKeelsonError(failure)).toBe(true);
      expect(JSON.stringify(failure)).not.toContain(secret);
      expect((failure as Error).message).not.toContain(secret);
    });
  });
}
