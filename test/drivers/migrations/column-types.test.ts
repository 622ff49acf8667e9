import { describe, expect, it } from "vitest";
import { toPrismaSchema } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  bool,
  datetime,
  email,
  entity,
  enums,
  float,
  int,
  json,
  jsonTyped,
  string,
  text,
} from "../../../src/entity/index.ts";
import { freshMysql } from "../../support/databases.ts";
import { MIGRATION_PLACES } from "../../support/migration-databases.ts";
import { askMysql, whyNoMysql } from "../../support/mysql-server.ts";
import { mysqlTables } from "../../support/mysql-tables.ts";

const sample = entity("sample", {
  string,
  text,
  int,
  float,
  bool,
  datetime,
  json,
  jsonTyped: jsonTyped<{ a: 1 }>(),
  email,
  enums: enums("low", "high"),
  encrypted: int.encrypted(),
  searchable: string.encrypted({ searchable: true }),
  other: belongsTo(() => sample).optional(),
}).versioned();

/** Types as the database itself describes them (spec 2.2). */
const TYPES = {
  SQLite: {
    statement: `SELECT name, type FROM pragma_table_info('sample')`,
    expected: {
      id: "TEXT",
      string: "TEXT",
      text: "TEXT",
      int: "INTEGER",
      float: "REAL",
      bool: "BOOLEAN",
      datetime: "DATETIME",
      json: "JSONB",
      jsonTyped: "JSONB",
      email: "TEXT",
      enums: "TEXT",
      encrypted: "TEXT",
      searchable: "TEXT",
      searchableBidx: "TEXT",
      otherId: "TEXT",
      createdAt: "DATETIME",
      updatedAt: "DATETIME",
      version: "INTEGER",
    },
  },
  PostgreSQL: {
    statement: `SELECT column_name AS name,
      data_type || coalesce('(' || coalesce(character_maximum_length, datetime_precision) || ')', '') AS type
      FROM information_schema.columns WHERE table_name = 'sample'`,
    expected: {
      id: "character varying(128)",
      string: "character varying(255)",
      text: "text",
      int: "integer",
      float: "double precision",
      bool: "boolean",
      datetime: "timestamp without time zone(3)",
      json: "jsonb",
      jsonTyped: "jsonb",
      email: "character varying(255)",
      enums: "character varying(255)",
      encrypted: "text",
      searchable: "text",
      searchableBidx: "character varying(64)",
      otherId: "character varying(128)",
      createdAt: "timestamp without time zone(3)",
      updatedAt: "timestamp without time zone(3)",
      version: "integer",
    },
  },
} as const;

describe.each(MIGRATION_PLACES)("column types of %s", (name, open) => {
  it("are those of the specification", async () => {
    const place = await open();
    const migrations = await place.open([sample]);
    await migrations.push();
    const { statement, expected } = TYPES[name as keyof typeof TYPES];
    const found = (await place.rows(statement)).map((row) => [row.name, row.type] as const);
    expect(Object.fromEntries(found)).toEqual(expected);
    await place.drop();
  });
});

const reason = await whyNoMysql();

describe.skipIf(reason !== undefined)(`column types of MariaDB${reason === undefined ? "" : ` (${reason})`}`, () => {
  it("are those of the specification", async () => {
    const { url, drop } = await freshMysql();
    await askMysql(url, mysqlTables(toPrismaSchema([sample], { provider: "mysql" })));
    const found = await askMysql(url, [
      `SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type FROM information_schema.COLUMNS
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sample'`,
    ]);
    expect(Object.fromEntries(found.map((row) => [row.name, row.type]))).toEqual({
      id: "varchar(128)",
      string: "varchar(255)",
      text: "mediumtext",
      int: "int(11)",
      float: "double",
      bool: "tinyint(1)",
      datetime: "datetime(3)",
      json: "longtext",
      jsonTyped: "longtext",
      email: "varchar(255)",
      enums: "varchar(255)",
      encrypted: "mediumtext",
      searchable: "mediumtext",
      searchableBidx: "varchar(64)",
      otherId: "varchar(128)",
      createdAt: "datetime(3)",
      updatedAt: "datetime(3)",
      version: "int(11)",
    });
    await drop();
  });
});
