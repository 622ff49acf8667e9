import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { childProgram } from "../../support/child-program.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { amount, oneOf } from "../../support/suite.ts";
import { category, product, productsDriver } from "./import-products.ts";

const ROWS = amount(3_000, 50_000);
/** Number of rows stored when the process is killed. */
const KILLED_AT = amount(1_000, 5_000);
const BATCH = 500;
const MEGABYTE = 1_048_576;
const running = new Set<ChildProcess>();

async function stop(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  running.delete(child);
}

afterEach(async () => {
  for (const child of running) await stop(child);
});

const databases = {
  async sqlite() {
    const { file, remove } = await freshSqliteFile();
    return { target: file, remove };
  },
  async postgres() {
    const { url, drop } = await freshPostgres();
    return { target: url, remove: drop };
  },
};

/** A server's report about itself. */
interface Told {
  readonly url?: string;
  readonly isAnswer?: true;
  readonly stored: number;
  readonly peak: number;
}

async function startServer(kind: string, target: string) {
  const file = await childProgram(new URL("import-server.child.ts", import.meta.url));
  // Limits the heap, so that garbage is collected; otherwise the process would use all available memory.
  const child = fork(file, [kind, target], { execArgv: ["--max-old-space-size=192"] });
  running.add(child);
  const hears = (isIt: (told: Told) => boolean): Promise<Told> =>
    new Promise((resolve, reject) => {
      child.on("message", (told: Told) => isIt(told) && resolve(told));
      child.on("exit", () => reject(new Error("The server has ended")));
    });
  const { url } = await hears((told) => told.url !== undefined);
  return {
    child,
    hears,
    async peak() {
      const answer = hears(({ isAnswer }) => isAnswer === true);
      child.send("peak");
      return (await answer).peak;
    },
    import: (body: AsyncIterable<string>) =>
      fetch(`${url}/api/products/import`, {
        method: "POST",
        headers: { "content-type": "text/csv" },
        body: Readable.from(body).pipe(new PassThrough()),
        duplex: "half",
      } as object as RequestInit),
  };
}

const isBad = (row: number): boolean => row % 100 === 0;

/** Callers cannot set the id, so it is ignored; the ids add up to 75 MB that must not stay in memory. */
const PADDING = "x".repeat(75_000_000 / ROWS);
/** The databases with so much; in the long suite, all of them. */
const PADDED = oneOf(0, Object.keys(databases));

/** Each kind of bad row in turn: an invalid number, a reference to a missing record, a value taken by the row before. */
function lineOf(row: number, padding: string): string {
  const flaw = isBad(row) ? (row / 100) % 3 : undefined;
  const sku = `sku-${flaw === 2 ? row - 1 : row}`;
  return `${flaw === 0 ? "x" : row},${sku},${flaw === 1 ? "none" : "abc"[row % 3]},${padding}\r\n`;
}

async function* csv(padding: string): AsyncGenerator<string> {
  yield "row,sku,categoryId,id\r\n";
  for (let start = 1; start <= ROWS; start += 100)
    yield Array.from({ length: 100 }, (_, i) => lineOf(start + i, padding)).join("");
}

describe.each(Object.entries(databases))("an import of many rows on %s", { timeout: 180_000 }, (kind, open) => {
  it("counts correctly, and needs no more memory for more rows", async () => {
    const { target, remove } = await open();
    const server = await startServer(kind, target);
    const early = server.hears(({ stored }) => stored >= ROWS / 5);
    const response = await server.import(csv(PADDED.includes(kind) ? PADDING : "x"));
    const { created, updated, failed } = await response.json();
    expect([response.status, created, updated]).toEqual([200, ROWS * 0.99, 0]);
    expect(failed.map(({ row }: { row: number }) => row)).toEqual(
      Array.from({ length: ROWS / 100 }, (_, i) => (i + 1) * 100),
    );
    expect(failed.slice(0, 3).map(({ errors }: { errors: object }) => errors)).toEqual([
      { categoryId: "does not exist" },
      { sku: "is already taken" },
      { row: expect.stringContaining("whole number") },
    ]);
    expect(((await server.peak()) - (await early).peak) / MEGABYTE).toBeLessThan(64);
    await stop(server.child);
    await remove();
  });

  it("leaves only complete batches when it is killed", async () => {
    const { target, remove } = await open();
    const server = await startServer(kind, target);
    const answer = server.import(csv("x")).then(
      () => "answered",
      () => "cut off",
    );
    await server.hears(({ stored }) => stored >= KILLED_AT);
    await stop(server.child);
    expect(await answer).toBe("cut off");
    const driver = await connectDriver(productsDriver(kind, target), [category, product]);
    const sort = [{ field: "row", direction: "asc" }] as const;
    const stored = (await driver.findMany(product, { select: ["row"], sort })).map(({ row }) => row as number);
    const batches = Math.ceil((stored.at(-1) ?? 0) / BATCH);
    expect(batches).toBeGreaterThanOrEqual(KILLED_AT / BATCH);
    expect(batches).toBeLessThan(ROWS / BATCH);
    expect(stored).toEqual(Array.from({ length: batches * BATCH }, (_, i) => i + 1).filter((row) => !isBad(row)));
    await driver.disconnect();
    await remove();
  });
});
