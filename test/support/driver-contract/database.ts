import { afterAll, beforeAll, beforeEach } from "vitest";
import type { AnyEntity, EntityLike } from "../../../src/entity/index.ts";
import type { Driver, Row } from "../../../src/gate/index.ts";
import { fixtureEntities, fixtureModel } from "../entities.ts";

/** What a driver's suite receives. */
export interface DriverUnderTest {
  /** Connected; its tables exist and are empty. */
  readonly driver: Driver;
  /** Deletes everything without the driver, where that is faster. */
  empty?(): Promise<unknown>;
  close(): Promise<void>;
}

export type MakeDriver = (entities: readonly EntityLike[]) => Promise<DriverUnderTest>;

/** Known limitations of a database. */
export interface Shortcomings {
  /** Deleted records keep their unique values, because the database has no partial indexes. @default false */
  readonly keepsDeletedValues?: boolean;
  /** The first year of datetimes that can be stored. @default 1 */
  readonly firstYear?: number;
  /** A number among the ways to reach similar databases: each runs a share of the suites; the long suite runs all. */
  readonly turn?: number;
}

/** The database of a running suite. */
export interface Database extends Shortcomings {
  readonly driver: Driver;
  /** What is stored: nothing, the fresh blog, or the blog after a test changed it. */
  stored: "nothing" | "blog" | "anything";
  /** Whether the running tests share the blog. */
  keepsBlog: boolean;
}

const MOMENT = new Date("2024-05-31T12:00:00.000Z");

/** A complete row: missing values become null, or a default of the kind. */
export function rowOf(entity: AnyEntity, values: Row): Row {
  const row: Row = {};
  for (const { name, role, optional, field } of Object.values(entity.columns)) {
    if (role === "createdAt" || role === "updatedAt") row[name] = MOMENT;
    else if (field?.default !== undefined && "value" in field.default) row[name] = field.default.value;
    else if (optional) row[name] = null;
  }
  return { ...row, ...values };
}

export function entityNamed(name: string): AnyEntity {
  const entity = fixtureModel.get(name);
  if (entity === undefined) throw new Error(`no fixture entity ${name}`);
  return entity;
}

/** Stores rows, each completed by `rowOf`. */
export async function insert(driver: Driver, name: string, rows: readonly Row[]): Promise<void> {
  const entity = entityNamed(name);
  if (rows.length > 0)
    await driver.createMany(
      name,
      rows.map((row) => rowOf(entity, row)),
    );
}

/** Deletes everything. */
export async function empty(driver: Driver): Promise<void> {
  for (const { name } of fixtureEntities) await driver.deleteMany(name, { id: { null: false } });
}

/** Statements that delete everything. */
export function emptyStatements(quote: '"' | "`"): readonly string[] {
  const quoted = (name: string): string => quote + name + quote;
  return [
    // One commit, which may have to reach the disk.
    "START TRANSACTION",
    // Rows of a tree refer to each other.
    `UPDATE ${quoted("category")} SET ${quoted("parentId")} = NULL`,
    ...fixtureEntities.map(({ name }) => `DELETE FROM ${quoted(name)}`),
    "COMMIT",
  ];
}

/** Every stored row of every entity, and every pair, to compare before and after. */
export async function everything(driver: Driver): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const entity of fixtureEntities) {
    const rows = await driver.findMany(entity.name);
    all[entity.name] = rows;
    for (const relation of fixtureModel.relationsOf(entity))
      if (relation.type === "manyToMany")
        all[`${entity.name}.${relation.name}`] = await driver.links(
          entity.name,
          relation.name,
          rows.map((row) => row.id as string),
        );
  }
  return all;
}

/**
 * Gives each test of a suite the blog, which is stored anew only after a test that writes.
 * @returns A function that a test calls first if it writes
 */
export function withBlogToRead(database: Database): () => void {
  beforeAll(() => {
    database.keepsBlog = true;
  });
  beforeEach(async () => {
    if (database.stored === "blog") return;
    await plantBlog(database.driver);
    database.stored = "blog";
  });
  afterAll(() => {
    database.keepsBlog = false;
  });
  return () => {
    database.stored = "anything";
  };
}

/** A small blog: the rows that show most rules of the contract. */
export function plantBlog(driver: Driver): Promise<void> {
  return driver.transaction(plantRows);
}

async function plantRows(driver: Driver): Promise<void> {
  await insert(driver, "user", [
    { id: "u1", name: "ann", email: "ann@example.com", nickname: "annie" },
    { id: "u2", name: "bob", email: "bob@example.com" },
    { id: "u3", name: "cleo", email: "cleo@example.com" },
  ]);
  await insert(driver, "profile", [
    { id: "r1", userId: "u1", bio: "writer" },
    { id: "r2", userId: "u2" },
  ]);
  await insert(driver, "category", [{ id: "c1", name: "root" }]);
  await insert(driver, "category", [{ id: "c2", name: "leaf", parentId: "c1" }]);
  await insert(driver, "tag", [
    { id: "t1", name: "red" },
    { id: "t2", name: "green" },
    { id: "t3", name: "blue" },
  ]);
  const at = (text: string): Date => new Date(text);
  await insert(driver, "post", [
    {
      id: "p1",
      title: "alpha",
      slug: "a",
      body: "100% sure",
      views: 5,
      rating: 1.5,
      published: true,
      status: "done",
      publishedAt: at("2024-01-01T00:00:00.001Z"),
      meta: { a: [1] },
      authorId: "u1",
      editorId: "u2",
      categoryId: "c1",
    },
    { id: "p2", title: "beta", slug: "b", authorId: "u1" },
    {
      id: "p3",
      title: "gamma",
      body: "Snake_Case",
      views: -3,
      rating: 2.5,
      published: true,
      status: "review",
      publishedAt: at("2024-01-01T00:00:00.002Z"),
      authorId: "u2",
      editorId: "u1",
      categoryId: "c2",
    },
    { id: "p4", title: "alphabet", body: "back\\slash", views: 5, rating: 0.25, authorId: "u2", categoryId: "c1" },
    {
      id: "p5",
      title: "delta",
      slug: "d",
      body: "",
      views: 10,
      rating: 2.5,
      published: true,
      status: "done",
      publishedAt: at("2023-12-31T23:59:59.999Z"),
      authorId: "u1",
      editorId: "u1",
    },
  ]);
  await driver.link("post", "tags", "p1", ["t1", "t2"]);
  await driver.link("post", "tags", "p3", ["t1"]);
  await driver.link("post", "tags", "p4", ["t2"]);
  await insert(driver, "comment", [
    { id: "m1", text: "nice", postId: "p1", authorId: "u2" },
    { id: "m2", text: "bad", postId: "p1" },
    { id: "m3", text: "nice", postId: "p3", authorId: "u1" },
  ]);
}
