import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMigrations } from "../../src/drivers/prisma/index.ts";
import { verifyPassword } from "../../src/index.ts";
import { TOKENS } from "../support/fuzz/callers.ts";
import { createCorpusApp, FixedTime } from "./app.ts";
import { corpusModel, STORED_DATABASES, type StoredDatabase, type StoredRows } from "./stored-app.ts";

// Databases that an earlier version wrote (record-stored.ts) are read and used.

interface Stored {
  readonly answers: readonly { path: string; json: unknown; key: string; status: number; body: string }[];
  readonly rows: StoredRows;
}

describe.each(["sqlite", "postgresql"] as const)("a database of %s that an earlier version wrote", (provider) => {
  const folder = fileURLToPath(new URL(`stored/${provider}/`, import.meta.url));
  const time = new FixedTime();
  let database: StoredDatabase;
  let stored: Stored;
  let api: ReturnType<typeof createCorpusApp>;

  beforeAll(async () => {
    database = await STORED_DATABASES[provider]();
    stored = JSON.parse(await readFile(`${folder}rows.json`, "utf8")) as Stored;
    const migrations = (await readdir(`${folder}migrations`)).filter((name) => !name.endsWith(".toml"));
    for (const name of migrations)
      await database.run(await readFile(`${folder}migrations/${name}/migration.sql`, "utf8"));
    const { _prisma_migrations: history, ...rows } = stored.rows;
    await database.run(HISTORY);
    await database.restore({ _prisma_migrations: history ?? [], ...rows });
    time.request = 1_000;
    api = createCorpusApp(database.driver(), time);
    await api.ready;
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const as = (caller: keyof typeof TOKENS, method: string, path: string, json?: unknown, key?: string) =>
    api.fetch(
      new Request(`http://corpus.invalid${path}`, {
        method,
        headers: {
          authorization: `Bearer ${TOKENS[caller]}`,
          ...(json !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      }),
    );
  const json = async (path: string) => (await as("root", "GET", path)).json();

  it("has a complete history of migrations", async () => {
    const target = { provider, url: database.url } as const;
    const migrations = await openMigrations({
      entities: await corpusModel(),
      target,
      directory: `${folder}migrations`,
    });
    expect(await migrations.status()).toMatchObject({ pending: [], failed: [], missing: [], drift: [] });
    await migrations.close();
  });

  it("returns encrypted values, finds them by their index, and verifies passwords", async () => {
    expect(await json("/api/users?ssn=ssn%20of%20ann")).toMatchObject([{ id: "ann", ssn: "ssn of ann" }]);
    expect(await (await as("ann", "GET", "/api/notes/n-ann")).json()).toMatchObject({ secret: "secret of ann" });
    const ann = stored.rows.user?.find(({ id }) => id === "ann");
    expect(ann?.ssn).not.toContain("ssn of ann");
    expect(await verifyPassword("password of ann", String(ann?.password))).toBe(true);
  });

  it("returns records, links and the audit log unchanged", async () => {
    expect(await json("/api/posts/p-ann?include=tags")).toMatchObject({
      title: "By ann",
      tags: [{ id: "t1" }, { id: "t2" }],
    });
    const entries = (await json("/api/audit-entries?_limit=1000")) as { id: string }[];
    const before = stored.rows.auditEntry?.map(({ id }) => id) ?? [];
    expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining([...before]));
  });

  it("repeats the responses of repeated requests", async () => {
    const kept = stored.answers.filter(({ status }) => status < 300);
    expect(kept).toHaveLength(2);
    for (const { path, json: sent, key, status, body } of kept) {
      const response = await as("ann", "POST", path, sent, key);
      expect([response.status, await response.text()]).toEqual([status, body]);
    }
  });

  it("continues the unfinished workflow, and reports finished ones", async () => {
    const runs = stored.rows.workflowRun ?? [];
    const statuses = async () => {
      const reports = await Promise.all(runs.map(async ({ id }) => json(`/api/workflow-runs/${id}`)));
      return reports.map(({ status }) => status);
    };
    expect(runs.map(({ status }) => status)).toEqual(["completed", "compensated", "running"]);
    await expect.poll(statuses, { timeout: 60_000 }).toEqual(["completed", "compensated", "completed"]);
    expect(await api.driver.count("order", { status: "paid" })).toBe(2);
  });
});

/** The table of Prisma Migrate, as its engine creates it. */
const HISTORY = `CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMP,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMP, "started_at" TIMESTAMP NOT NULL,
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;
