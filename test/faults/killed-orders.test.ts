import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { embedded, postgres } from "../../src/index.ts";
import { childProgram } from "../support/child-program.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { LINES, wholeOrders } from "../support/faults/whole-orders.ts";
import { amount } from "../support/suite.ts";
import { told } from "../support/told.ts";

const KILLS = amount(3, 100);

const DATABASES = [
  ["SQLite", async () => freshSqliteFile().then(({ file, remove }) => ({ place: file, drop: remove }))],
  ["PostgreSQL", async () => freshPostgres().then(({ url, drop }) => ({ place: url, drop }))],
] as const;

describe.each(DATABASES)("after SIGKILL amid nested writes and batches, on %s", (name, open) => {
  it("each order has all of its lines, or does not exist", { timeout: 900_000 }, async () => {
    const { place, drop } = await open();
    onTestFinished(drop);
    const connect = () => wholeOrders(name === "SQLite" ? embedded({ file: place }) : postgres(place));
    const first = connect();
    await first.ready;
    await first.close();
    const script = await childProgram(new URL("../support/faults/whole-orders.child.ts", import.meta.url));
    for (let kill = 0; kill < KILLS; kill++) {
      const child = spawn(process.execPath, [script, place, String(kill)], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      const ended = once(child, "exit");
      await told(child, "writing");
      await new Promise((resolve) => setTimeout(resolve, 5 + ((kill * 37) % 90)));
      child.kill("SIGKILL");
      await ended;
    }
    const api = connect();
    onTestFinished(() => api.close());
    await api.ready;
    const counts = new Map<unknown, number>();
    for await (const lines of api.driver.stream("line", { select: ["orderId"] }))
      for (const { orderId } of lines) counts.set(orderId, (counts.get(orderId) ?? 0) + 1);
    const orders = await api.driver.findMany("order", {});
    expect(new Set(orders.map(({ way }) => way))).toEqual(new Set(["nested", "batch"]));
    expect(orders.filter(({ id }) => counts.get(id) !== LINES)).toEqual([]);
    expect(counts.size).toBe(orders.length);
  });
});
