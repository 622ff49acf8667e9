import { spawn } from "node:child_process";
import { embedded, postgres } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childProgram } from "../../support/child-program.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { endProcess, type RunningExample, whenListening } from "../../support/example-process.ts";
import { request } from "../../support/http.ts";
import { repositoryRoot } from "../../support/source-files.ts";
import { orderApp, sameAnswer } from "./order-app.ts";

const CHILD = new URL("order-app.child.ts", import.meta.url);

async function startChild(database: string): Promise<RunningExample> {
  const child = spawn(process.execPath, [await childProgram(CHILD), database], {
    cwd: repositoryRoot,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return whenListening(child);
}

const DATABASES = [
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { database: file, driver: embedded({ file }), drop: remove };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return { database: url, driver: postgres(url), drop };
    },
  ],
] as const;

describe.each(DATABASES)("a process that dies, on %s", (_, open) => {
  let app: Awaited<ReturnType<typeof orderApp>>;
  let children: readonly RunningExample[] = [];
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    app = await orderApp({ driver: opened.driver, keys: { leaseMs: 1_500 } });
    children = await Promise.all([startChild(opened.database), startChild(opened.database)]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(children.map(endProcess));
    await app.close();
    await drop();
  });

  /** Sends a request to a process that it kills, and waits for the process to end. */
  async function sendTo(child: RunningExample, key: string, where: string): Promise<void> {
    const headers = { "idempotency-key": key, "x-die": where };
    const url = child.url.replace("localhost", "127.0.0.1");
    await expect(
      request(url, "POST", "/api/orders", { token: "ann", headers, body: { item: "rope" } }),
    ).rejects.toThrow();
    await child.ended;
    expect(child.child.signalCode).toBe("SIGKILL");
  }

  it("between commit and response leaves one record, and another process responds", async () => {
    await sendTo(children[0] as RunningExample, "after", "before-answer");
    const [stored, ...others] = await app.orders();
    expect(others).toEqual([]);
    const again = await app.create("after");
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.json.id).toBe(stored?.id);
    expect(again.headers.get("location")).toBe(`/api/orders/${stored?.id}`);
    expect(sameAnswer(await app.create("after"))).toEqual(sameAnswer(again));
    expect(await app.orders()).toHaveLength(1);
  });

  it("before the commit leaves nothing, and another process runs the request later", async () => {
    const before = (await app.orders()).length;
    await sendTo(children[1] as RunningExample, "before", "before-commit");
    expect(await app.orders()).toHaveLength(before);
    const statuses: number[] = [];
    await expect
      .poll(
        async () => {
          const { status, headers } = await app.create("before");
          statuses.push(status);
          return status === 201 && headers.get("idempotency-replayed");
        },
        { timeout: 10_000, interval: 200 },
      )
      .toBe(null);
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set(statuses.length > 1 ? [409] : []));
    expect(await app.orders()).toHaveLength(before + 1);
    expect((await app.create("before")).headers.get("idempotency-replayed")).toBe("true");
  });
});
