import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgres, type Row } from "../../src/index.ts";
import { childProgram } from "../support/child-program.ts";
import { freshPostgres } from "../support/databases.ts";
import { until } from "../support/faults/note-app.ts";
import { stockApp } from "../support/faults/stock-app.ts";
import { request } from "../support/http.ts";
import { told } from "../support/told.ts";

const BULK = Array.from({ length: 10 }, (_, i) => `b${i}`);
const IMPORTED = Array.from({ length: 40 }, (_, i) => ({ text: `import-${i}` }));
const acknowledged: string[] = [];
let api: ReturnType<typeof stockApp>;
let child: ChildProcess | undefined;
const cleanups: (() => Promise<unknown>)[] = [];

/** Kills a process in the middle of a bulk request, an import and a workflow, while it creates records. */
beforeAll(async () => {
  const database = await freshPostgres();
  cleanups.push(database.drop);
  const seeding = stockApp(postgres(database.url));
  await seeding.ready;
  for (const id of BULK) await seeding.asSystem().item.create({ id, text: "bulk" });
  await seeding.close();

  const script = await childProgram(new URL("../support/faults/stock.child.ts", import.meta.url));
  child = spawn(process.execPath, [script, database.url], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const url = `http://127.0.0.1:${await told<number>(child, "port")}`;
  const send = (path: string, body: unknown, method = "POST") => request(url, method, `/api/items${path}`, { body });
  const braked = ["bulk", "import", "workflow"].map((where) => told(child as ChildProcess, "braked", where));
  const cut = [
    send("/bulk", { ids: BULK, data: { size: 1 } }, "PUT"),
    send("/import", IMPORTED),
    send("/restock", {}),
  ].map((answer) =>
    answer.then(
      ({ status }) => status,
      () => "cut",
    ),
  );
  await Promise.all(braked);
  let isOver = false;
  const lane = async (number: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const text = `created-${number}-${i}`;
      const status = await send("", { text }).then(
        (answer) => answer.status,
        () => undefined,
      );
      if (status === 201) acknowledged.push(text);
      else isOver = true;
    }
  };
  const lanes = Promise.all([0, 1, 2, 3].map(lane));
  await until(() => acknowledged.length > 40);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await Promise.all([ended, lanes]);
  expect(await Promise.all(cut)).toEqual(["cut", "cut", "cut"]);

  api = stockApp(postgres(database.url));
  cleanups.push(api.close);
  await api.ready;
});
afterAll(async () => {
  child?.kill("SIGKILL");
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const items = (where?: Row): Promise<Row[]> => api.driver.findMany("item", where === undefined ? {} : { where });

describe("after SIGKILL of an app on PostgreSQL", () => {
  it("each acknowledged record exists once", async () => {
    const texts = (await items({ text: { starts: "created-" } })).map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
    expect(acknowledged.filter((text) => !texts.includes(text))).toEqual([]);
  });

  it("nothing is left of a bulk request, and its records can be changed", async () => {
    expect((await items({ id: { in: BULK } })).map(({ size }) => size)).toEqual(BULK.map(() => 0));
    for (const id of BULK) await api.asSystem().item.update(id, { size: 2 });
  });

  it("an import leaves only complete batches", async () => {
    const texts = new Set((await items({ text: { starts: "import-" } })).map(({ text }) => text));
    expect(texts).toEqual(new Set(IMPORTED.slice(0, 20).map(({ text }) => text)));
  });

  it("a workflow continues, and repeats no finished step", async () => {
    await expect.poll(() => items({ text: "ordered" }), { timeout: 15_000 }).toMatchObject([{ size: 5 }]);
  });

  it("each record has the entry of its creation, and each entry its record", async () => {
    const ids = (await items()).map(({ id }) => id).sort();
    const entries = await api.driver.findMany("auditEntry", { where: { operation: "create" } });
    expect(entries.map(({ recordId }) => recordId).sort()).toEqual(ids);
  });
});
