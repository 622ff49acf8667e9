import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/run-cli.ts";
import type { AnyEntity, EntityLike } from "../../../src/entity/index.ts";
import { type Driver, prisma, resolveEntity } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { compileProblems } from "../../support/compile-problems.ts";
import { freshMysql } from "../../support/databases.ts";
import { generatedClient } from "../../support/generate-client.ts";
import { askMysql, whyNoMysql } from "../../support/mysql-server.ts";
import { repositoryRoot } from "../../support/source-files.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";
import { AWKWARD } from "./awkward-tables.ts";

/** A folder of the repository, where the package's name means its source. */
async function makeFolder(): Promise<string> {
  await mkdir(join(repositoryRoot, ".cache"), { recursive: true });
  return mkdtemp(join(repositoryRoot, ".cache/import-"));
}

async function keelson(...words: string[]): Promise<{ code: unknown; said: string; error: string }> {
  const written = { said: "", error: "" };
  const stream = (name: "said" | "error") => ({
    write: (text: string) => {
      written[name] += text;
      return true;
    },
  });
  const terminal = {
    stdin: process.stdin,
    stdout: stream("said"),
    stderr: stream("error"),
    interactive: false,
    colors: false,
  } as unknown as Parameters<typeof runCli>[1];
  return { code: await runCli(words, terminal), ...written };
}

/** MariaDB is reached through a client of Prisma's, which is made of the entities. */
async function openMariadb(): Promise<SqlDatabase> {
  const { url, drop } = await freshMysql();
  const rows = async (statement: string) => (await askMysql(url, [statement])) as unknown as Record<string, unknown>[];
  return { driver: undefined as never, url, rows, drop };
}

const DATABASES: typeof SQL_DATABASES = [
  ...SQL_DATABASES,
  ...((await whyNoMysql()) === undefined ? [["MariaDB", openMariadb] as const] : []),
];

describe.each(DATABASES)("keelson import on %s", (name, open) => {
  let database: SqlDatabase;
  let folder: string;
  let out: string;

  beforeAll(async () => {
    database = await open();
    folder = await makeFolder();
    out = join(folder, "entities");
    for (const statement of AWKWARD[name] as readonly string[]) await database.rows(statement);
  });
  afterAll(async () => {
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const schemas = name === "PostgreSQL" ? ["--schemas=public,sales"] : [];
  const run = (...more: string[]) => keelson("import", database.url, `--out=${out}`, ...schemas, ...more);
  const entities = async (): Promise<readonly EntityLike[]> =>
    ((await import(pathToFileURL(join(out, "index.ts")).href)) as { entities: readonly EntityLike[] }).entities;

  async function driverFor(readable: readonly EntityLike[]): Promise<Driver> {
    if (name !== "MariaDB") return database.driver;
    const Client = await generatedClient(readable, "mysql");
    const adapter = new PrismaMariaDb(database.url);
    return prisma(new Client({ adapter }), { adapter });
  }

  it("writes entities that compile, and lists what they cannot say", async () => {
    const { code, said, error } = await run();
    expect([code, error]).toEqual([0, ""]);
    expect(said.replaceAll(out, "<out>")).toMatchSnapshot();
    const files = await readdir(out);
    const texts = await Promise.all(
      files.map(async (file) => `// ${file}\n${await readFile(join(out, file), "utf8")}`),
    );
    expect(texts.join("\n")).toMatchSnapshot();
    expect(
      compileProblems(
        files.map((file) => join(out, file)),
        {} as never,
      ),
    ).toEqual([]);
  });

  it("counts all that the catalogue has", async () => {
    await rm(out, { recursive: true, force: true });
    const { counts } = JSON.parse((await run("--json")).said) as { counts: Record<string, { found: number }> };
    const [columns] = await database.rows(
      name === "PostgreSQL"
        ? "select count(*)::int as n from information_schema.columns where table_schema in ('public', 'sales')"
        : name === "MariaDB"
          ? "select count(*) as n from information_schema.columns where table_schema = database()"
          : "select count(*) as n from sqlite_master m join pragma_table_xinfo(m.name) where m.type in ('table', 'view') and m.name not like 'sqlite_%'",
    );
    expect(counts.columns?.found).toBe(Number(columns?.n));
  });

  it("changes nothing the second time, shows what differs, and writes it when told to", async () => {
    expect((await run()).code).toBe(0);
    const file = join(out, (await readdir(out)).find((one) => one !== "index.ts") as string);
    const own = (await readFile(file, "utf8")).replace("read: []", 'read: ["everyone"]');
    await writeFile(file, own);
    const { code, said } = await run();
    expect(code).toBe(1);
    expect(said).toContain('-   .rules({ create: [], read: ["everyone"]');
    expect(said).toContain("Nothing was written");
    expect(await readFile(file, "utf8")).toBe(own);
    expect((await run("--overwrite")).code).toBe(0);
    expect(await readFile(file, "utf8")).not.toBe(own);
  });

  it("gives entities that start untouched, and list each row as SQL does", async () => {
    const readable = (await entities()).map((one) => ({
      ...(resolveEntity(one as never) as AnyEntity),
      rules: { read: ["everyone"] },
    }));
    const app = createTestApp({ entities: readable as never, driver: await driverFor(readable) } as never);
    try {
      await app.api.ready;
      for (const entity of readable) {
        const { status, body } = await app.as({ id: "ann" }).request("GET", `/api/${pathOf(entity)}?_limit=100`);
        expect(status, `${entity.name}: ${JSON.stringify(body)}`).toBe(200);
        const quote = name === "MariaDB" ? "`" : '"';
        const table = [entity.table?.schema, entity.table?.name ?? entity.name]
          .flatMap((part) => (part === undefined ? [] : [`${quote}${part}${quote}`]))
          .join(".");
        const rows = await database.rows(`select * from ${table}`);
        const shown = body as Record<string, unknown>[];
        expect(shown.length, entity.name).toBe(rows.length);
        const id = entity.columns.id as AnyEntity["columns"][string];
        const idOf = (row: Record<string, unknown>) =>
          (id.parts ?? [id]).map((part) => String(row[part.stored])).join("~");
        for (const row of rows) {
          const record = shown.find((one) => String(one.id) === idOf(row)) as Record<string, unknown>;
          for (const column of Object.values(entity.columns).filter(({ parts }) => parts === undefined))
            expect(plain(record[column.name]), `${entity.name}.${column.name}`).toEqual(
              asShown(column.kind.column.scalar, row[column.stored], column.kind.column.scale),
            );
        }
      }
    } finally {
      await app.close();
    }
  });
});

function pathOf(entity: AnyEntity): string {
  return routeSegmentOf(entity);
}

const { routeSegment: routeSegmentOf } = await import("../../../src/kernel/index.ts");

/** A value of a response, without what JSON may write in two ways. */
function plain(value: unknown): unknown {
  return value === undefined ? null : value;
}

/** A value of SQL as a response has it. */
function asShown(scalar: string, value: unknown, scale = 0): unknown {
  if (value === null) return null;
  switch (scalar) {
    case "BigInt":
      return String(value);
    case "Decimal":
      return Number(value).toFixed(scale);
    case "Int":
    case "Float":
      return Number(value);
    case "Boolean":
      return value === true || Number(value) === 1;
    case "DateTime":
      return (
        value instanceof Date
          ? value
          : new Date(`${String(value).replace(" ", "T")}${/Z|[+-]\d\d/.test(String(value).slice(10)) ? "" : "Z"}`)
      ).toISOString();
    case "Date":
      return value instanceof Date
        ? `${value.getFullYear()}-${String(value.getMonth() + 1).padStart(2, "0")}-${String(value.getDate()).padStart(2, "0")}`
        : value;
    case "Time":
      return String(value).replace(/\.000$/, "");
    case "Bytes":
      return Buffer.from(value as ArrayBuffer).toString("base64");
    case "Json":
      return typeof value === "string" ? JSON.parse(value) : value;
    default:
      return value;
  }
}

describe("keelson import --prisma", () => {
  it("writes the entities of a schema, whose own tables they then fit", async () => {
    const folder = await makeFolder();
    try {
      const out = join(folder, "entities");
      await writeFile(
        join(folder, "schema.prisma"),
        `datasource db {
  provider = "postgresql"
}
enum Role {
  ADMIN
  USER  @map("plain user")
}
/// People who log in.
model User {
  id Int @id @default(autoincrement())
  email String @unique
  role Role @default(USER)
  posts Post[]
  profile Profile?
  @@map("users")
}
model Profile {
  id Int @id @default(autoincrement())
  bio String?
  user User @relation(fields: [userId], references: [id], onDelete: Cascade)
  userId Int @unique @map("user_id")
}
model Post {
  id String @id @default(uuid())
  createdAt DateTime @default(now())
  updatedAt DateTime @updatedAt
  title String @db.VarChar(80)
  views BigInt @default(0)
  price Decimal? @db.Decimal(10, 2)
  author User? @relation(fields: [authorId], references: [id])
  authorId Int?
  tags Tag[]
  @@index([authorId, title])
}
model Tag {
  name String @id
  posts Post[]
}
`,
      );
      const { code, said, error } = await keelson(
        "import",
        `--prisma=${join(folder, "schema.prisma")}`,
        `--out=${out}`,
      );
      expect([code, error]).toEqual([0, ""]);
      expect(said.replaceAll(out, "<out>")).toMatchSnapshot();
      const files = await readdir(out);
      const texts = await Promise.all(
        files.map(async (file) => `// ${file}\n${await readFile(join(out, file), "utf8")}`),
      );
      expect(texts.join("\n")).toMatchSnapshot();
      expect(compileProblems(files.map((file) => join(out, file)))).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("says what is wrong with what it was given", async () => {
    expect(await keelson("import", "redis://localhost")).toMatchObject({
      code: 1,
      error: expect.stringContaining("begins with postgresql:, mysql:, mariadb: or file:"),
    });
    expect((await keelson("import", "postgresql://nobody@127.0.0.1:1/none")).error).toMatch(
      /The database cannot be read/,
    );
    expect((await keelson("import", "--prisma=/none.prisma")).error).toMatch(/none\.prisma/);
  });
});
