import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { embedded, postgres, prisma } from "../../../src/drivers/prisma/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { connectDriver, makeTables } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { empty, plantBlog } from "../../support/driver-contract/database.ts";
import { fixtureEntities } from "../../support/entities.ts";
import { generatedClient } from "../../support/generate-client.ts";

interface LoggingClient {
  $on(event: "query", listener: (event: { readonly query: string }) => void): void;
}

const LOG = { log: [{ emit: "event", level: "query" }] };

/** A client and its tables on each database. */
const CLIENTS = {
  async sqlite() {
    const { file, remove } = await freshSqliteFile();
    await makeTables(embedded({ file }), fixtureEntities);
    const Client = await generatedClient(fixtureEntities, "sqlite");
    return { client: new Client({ adapter: new PrismaLibSql({ url: `file:${file}` }), ...LOG }), drop: remove };
  },
  async postgresql() {
    const { url, drop } = await freshPostgres();
    await makeTables(postgres(url), fixtureEntities);
    const Client = await generatedClient(fixtureEntities, "postgresql");
    return { client: new Client({ adapter: new PrismaPg({ connectionString: url }), ...LOG }), drop };
  },
} as const;

describe.each(["sqlite", "postgresql"] as const)("statements on %s", (provider) => {
  const seen: string[] = [];
  let driver: Driver;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const made = await CLIENTS[provider]();
    (made.client as unknown as LoggingClient).$on("query", ({ query }) => seen.push(query.replace(/["`]/g, "")));
    drop = made.drop;
    driver = await connectDriver(prisma(made.client), fixtureEntities);
  });
  beforeEach(async () => {
    await empty(driver);
    await plantBlog(driver);
  });
  afterAll(async () => {
    await driver.disconnect();
    await drop();
  });

  /** The statements that some work sends. */
  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    await new Promise((resolve) => setTimeout(resolve, 20)); // Prisma reports them with a short delay
    seen.length = 0;
    await work();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [...seen];
  }

  it("change one record in a single UPDATE with the whole condition", async () => {
    const where = { id: "p1", published: true, author: { name: "ann" }, NOT: { tags: { name: "blue" } } };
    const sent = await statementsOf(() => driver.update("post", where, { title: "changed" }));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatch(/^UPDATE .*post SET title = .* WHERE .*published.*name.*RETURNING/);
    const missed = await statementsOf(() => driver.update("post", { ...where, views: 77 }, { title: "changed" }));
    expect(missed).toHaveLength(1);
  });

  it("change several records in a single UPDATE", async () => {
    const sent = await statementsOf(() => driver.updateMany("post", { author: { name: "ann" } }, { views: 1 }));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatch(/^UPDATE/);
  });

  it("delete in a single DELETE with the whole condition", async () => {
    const one = await statementsOf(() => driver.delete("comment", { id: "m1", author: { name: "bob" } }));
    expect(one).toHaveLength(1);
    expect(one[0]).toMatch(/^DELETE FROM .*comment WHERE/);
    const several = await statementsOf(() => driver.deleteMany("comment", { text: "nice" }));
    expect(several).toHaveLength(1);
  });

  it("create a record in a single INSERT", async () => {
    const sent = await statementsOf(() => driver.create("tag", { id: "t9", name: "new" }));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatch(/^INSERT INTO .*tag/);
  });

  it("read the selected columns only", async () => {
    const [sent] = await statementsOf(() => driver.findMany("post", { select: ["id", "title"] }));
    expect(sent).toContain("title");
    expect(sent).not.toContain("body");
  });

  it("join simultaneous reads by id, and give each caller its own rows", async () => {
    const ids = ["p1", "p2", "p1", "nope", "p3"];
    let rows: (Record<string, unknown> | null)[] = [];
    const sent = await statementsOf(async () => {
      rows = await Promise.all(ids.map((id) => driver.findOne("post", { id })));
    });
    expect(sent).toHaveLength(1);
    expect(rows.map((row) => row?.id)).toEqual(["p1", "p2", "p1", undefined, "p3"]);
    expect(rows[0]).toEqual(rows[2]);
    expect(rows[0]).not.toBe(rows[2]);
    expect(rows[0]?.meta).not.toBe(rows[2]?.meta);
  });

  it("join only reads that differ in nothing but the id", async () => {
    const sent = await statementsOf(() =>
      Promise.all([
        driver.findOne("post", { id: "p1", published: true }),
        driver.findOne("post", { AND: [{ id: "p3" }, { published: true }] }),
        driver.findOne("post", { id: "p1", published: false }),
        driver.findOne("post", { id: "p1" }, { select: ["id"] }),
        driver.findOne("user", { id: "u1" }),
      ]),
    );
    expect(sent).toHaveLength(4);
  });

  it("are sent one after the other in a transaction, also for parallel calls", async () => {
    const warnings = vi.spyOn(process, "emitWarning");
    const titles = await driver.transaction((tx) =>
      Promise.all(["p1", "p2", "p3"].map(async (id) => (await tx.findOne("post", { id }))?.title)),
    );
    expect(titles).toEqual(["alpha", "beta", "gamma"]);
    const many = Array.from({ length: 1_200 }, (_, index) => ({ id: `n${index}`, name: `n${index}` }));
    expect(await driver.createMany("tag", many)).toBe(1_200);
    expect(warnings).not.toHaveBeenCalled();
    warnings.mockRestore();
  });

  it("read pairs of several records in two statements, without extra rows", async () => {
    let pairs: unknown[] = [];
    const sent = await statementsOf(async () => {
      pairs = await driver.links("post", "tags", ["p1", "p3", "p4"], { where: { name: { ne: "blue" } }, limit: 2 });
    });
    expect(pairs).toHaveLength(2);
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatch(/ LIMIT /);
  });

  it("read pairs under a condition with a list of any length", async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => `n${index}`);
    const pairs = await driver.links("post", "tags", ["p1", "p3"], { where: { id: [...many, "t1"] }, limit: 2 });
    expect(pairs.map(({ source }) => source)).toEqual(["p1", "p3"]);
  });

  it("accept lists of any length, in any order", async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => ({ id: `n${index}`, name: `n${2_999 - index}` }));
    await driver.createMany("tag", many);
    const where = { AND: [{ id: many.map(({ id }) => id) }, { name: { ne: "n2000" } }] };
    const sort = [{ field: "name", direction: "asc" }] as const;
    expect(await driver.count("tag", where)).toBe(1_199);
    const page = await driver.findMany("tag", { where, sort, limit: 2, offset: 199, select: ["id"] });
    expect(page).toEqual([{ id: "n1000" }, { id: "n998" }]);
    expect(await driver.updateMany("tag", where, { name: "n2000" }).catch((error: Error) => error.name)).toBe(
      "ConflictError",
    );
    expect(await driver.deleteMany("tag", where)).toBe(1_199);
  });
});
