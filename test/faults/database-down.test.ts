import { afterEach, describe, expect, it } from "vitest";
import { entity, type Keelson, keelson, noopLogger, postgres, string } from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { request, startApp } from "../support/http.ts";
import { type Gate, gateTo } from "../support/tcp-gate.ts";

const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["everyone"] });
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function behindGate(options: { open: boolean }): Promise<{ api: Keelson; gate: Gate; url: string }> {
  const database = await freshPostgres();
  cleanups.push(database.drop);
  const gate = await gateTo(database.url);
  if (options.open) await gate.open();
  const api = keelson({ entities: [note], driver: postgres(gate.url), logger: noopLogger }) as unknown as Keelson;
  const { url, close } = await startApp(api);
  // In this order, so that no close waits for a connection that cannot be made.
  cleanups.push(gate.close, close);
  return { api, gate, url };
}

/** Repeats a request until the response matches; the suite's time limit ends it otherwise. */
async function until(url: string, path: string, status: number): Promise<Awaited<ReturnType<typeof request>>> {
  for (;;) {
    const answer = await request(url, "GET", path);
    if (answer.status === status) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("an unavailable database", () => {
  it("gives 503 with Retry-After while it is down, and 200 again when it is back", async () => {
    const { gate, url } = await behindGate({ open: true });
    expect((await request(url, "POST", "/api/notes", { body: { text: "before" } })).status).toBe(201);
    await gate.close();
    for (const [method, body] of [["GET"], ["POST", { text: "lost" }]] as const) {
      const down = await request(url, method, "/api/notes", body === undefined ? {} : { body });
      expect(down.status).toBe(503);
      expect(down.json).toMatchObject({ code: "DATABASE_UNAVAILABLE", status: 503 });
      expect(new Headers(down.headers as HeadersInit).get("retry-after")).toMatch(/^\d+$/);
      expect(JSON.stringify(down.json)).not.toMatch(/127\.0\.0\.1|ECONN|prisma/i);
    }
    expect((await request(url, "GET", "/health/live")).status).toBe(200);
    await until(url, "/health/ready", 503);
    await gate.open();
    const back = await until(url, "/api/notes", 200);
    expect((back.json as { text: string }[]).map(({ text }) => text)).toEqual(["before"]);
    await until(url, "/health/ready", 200);
  });

  it("delays the start, and the app starts by itself when it is back", async () => {
    const { api, gate, url } = await behindGate({ open: false });
    await expect(api.ready).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    expect((await request(url, "GET", "/health/live")).status).toBe(200);
    expect((await request(url, "GET", "/api/notes")).status).toBe(503);
    await gate.open();
    expect((await until(url, "/api/notes", 200)).json).toEqual([]);
  });
});
