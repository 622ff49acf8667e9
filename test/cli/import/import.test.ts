import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EntityLike } from "../../../src/entity/index.ts";
import { type Driver, prisma } from "../../../src/index.ts";
import { compileProblems } from "../../support/compile-problems.ts";
import { freshMysql } from "../../support/databases.ts";
import { generatedClient } from "../../support/generate-client.ts";
import { askMysql, whyNoMysql } from "../../support/mysql-server.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";
import { AWKWARD } from "./awkward-tables.ts";
import { entitiesIn, expectSameRows, keelson, makeFolder } from "./imported.ts";

/** MariaDB is reached through a Prisma client, which is generated from the entities. */
async function openMariadb(): Promise<SqlDatabase> {
  const { url, drop } = await freshMysql();
  const rows = async (statement: string) => (await askMysql(url, [statement])) as unknown as Record<string, unknown>[];
  return { driver: undefined as never, url, rows, drop };
}

const DATABASES: typeof SQL_DATABASES = [
  ...SQL_DATABASES,
  ...((await whyNoMysql()) === undefined ? [["MariaDB", openMariadb] as const] : []),
];

const written = await makeFolder();
const toCompile: string[] = [];
afterAll(() => rm(written, { recursive: true, force: true }));

/** Keeps the output, so that the last test compiles all of it in one program. */
async function keepToCompile(out: string, name: string): Promise<void> {
  await cp(out, join(written, name), { recursive: true });
  for (const file of await readdir(out)) toCompile.push(join(written, name, file));
}

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
    await keepToCompile(out, name);
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
    await expectSameRows(await entitiesIn(out), driverFor, database, name === "MariaDB" ? "`" : '"');
  });
});

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
      await keepToCompile(out, "prisma");
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

it("writes entities that compile, of whatever it was given", () => {
  expect(toCompile.length).toBeGreaterThan(20);
  expect(compileProblems(toCompile)).toEqual([]);
});
