import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childProgram } from "../support/child-program.ts";
import { freshPostgres } from "../support/databases.ts";
import { amount } from "../support/suite.ts";

const RECORDS = amount(50_000, 200_000);
/** Repetitions of a text of twelve letters: with fewer records, each has more of them. */
const WORDS = amount(110, 25);
const MEBIBYTE = 1_048_576;
/** The engine keeps as much garbage as its heap allows: with a small heap, the measured memory is in use. */
const HEAP = "--max-old-space-size=64";

interface Message {
  readonly port?: number;
  readonly ended?: boolean;
  readonly measured?: { readonly rss: number; readonly peak: number; readonly statements: number };
}

let server: ChildProcess;
let port: number;
let drop: () => Promise<void>;

/** The next message of the server that has this member. */
function told<K extends keyof Message>(key: K): Promise<NonNullable<Message[K]>> {
  return new Promise((resolve, reject) => {
    const listen = (message: Message): void => {
      const value = message[key];
      if (value === undefined) return;
      server.off("message", listen).off("exit", exited);
      resolve(value);
    };
    const exited = (code: number | null): void => reject(new TypeError(`The server has ended with ${code}`));
    server.on("message", listen).once("exit", exited);
  });
}

function measure(): Promise<NonNullable<Message["measured"]>> {
  const measured = told("measured");
  server.send("measure");
  return measured;
}

/** The records are created by the database, so that the server never had them in memory. */
async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `INSERT INTO line (id, title, body, amount, status, "createdAt", "updatedAt")
     SELECT to_char(n, 'FM000000'), 'Line ' || n, repeat('lorem ipsum ', ${WORDS}), -n, NULL, now(), now()
     FROM generate_series(1, ${RECORDS}) AS n`,
  );
  await client.query("ANALYZE line");
  await client.end();
}

async function exported(format: string): Promise<IncomingMessage> {
  const path = `/api/lines/export?format=${format}`;
  const [response] = await once(get({ port, path, agent: false }), "response");
  return response as IncomingMessage;
}

beforeAll(async () => {
  const database = await freshPostgres();
  drop = database.drop;
  const script = await childProgram(new URL("export.child.ts", import.meta.url));
  server = spawn(process.execPath, [HEAP, script, database.url], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  port = await told("port");
  await fill(database.url);
});
afterAll(async () => {
  if (server.connected) {
    const ended = once(server, "exit");
    server.send("close");
    await ended;
  }
  await drop();
});

describe(`an export of ${RECORDS} records from PostgreSQL`, () => {
  it("contains all of them, and takes less than 64 MB of memory", { timeout: 120_000 }, async () => {
    const before = await measure();
    const ended = told("ended");
    const response = await exported("csv");
    let size = 0;
    let lines = 0;
    let end = "";
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length;
      for (const byte of piece) if (byte === 10) lines += 1;
      end = `${end}${piece.subarray(-4_000).toString()}`.slice(-4_000); // a row may arrive in two pieces
    }
    await ended;
    const { peak } = await measure();
    expect(lines).toBe(RECORDS + 1);
    expect(end).toContain(`"Line ${RECORDS}"`);
    expect(size).toBeGreaterThan(64 * MEBIBYTE); // more than the buffers hold
    expect((peak - before.rss) / MEBIBYTE).toBeLessThan(64);
  });

  it("stops querying the database once its client has disconnected", async () => {
    await measure();
    const ended = told("ended");
    const response = await exported("json");
    await once(response, "data");
    response.on("error", () => {}).destroy();
    await ended;
    expect((await measure()).statements).toBeLessThan(20); // of some two hundred, or fifty
  });
});
