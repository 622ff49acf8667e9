import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { toNodeHandler } from "keelson/node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { events } from "../src/index.ts";

const note = entity("note", { text: string, secret: string.optional().readable("admin") }).rules({
  create: ["everyone"],
  read: ["everyone"],
  update: ["everyone"],
  delete: ["everyone"],
});
const diary = entity("diary", { text: string }).rules({ create: ["everyone"], read: ["admin"] });

async function boot() {
  const api = keelson({
    entities: [note, diary],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: [events()],
    getUser: ({ headers }) => (headers.get("x-user") === "root" ? { id: "root", role: "admin" } : null),
  });
  const server = createServer(toNodeHandler(api)).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { api, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** An open stream, and the text received so far. */
async function listen(origin: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${origin}/events`, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const seen = { text: "", isOver: false };
  const reading = (async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      seen.text += new TextDecoder().decode(chunk);
    seen.isOver = true;
  })();
  return { seen, reading };
}

describe("the stream of events", () => {
  it("has each change, in order, with the fields that the caller may read", async () => {
    const { api, origin } = await boot();
    const { seen } = await listen(origin);
    const made = await api.asSystem().note.create({ text: "one", secret: "hidden" });
    await api.asSystem().note.update(made.id, { text: "two" });
    await api.asSystem().note.delete(made.id);
    await vi.waitFor(() => expect(seen.text).toContain("event: note.delete"), 5_000);
    expect(seen.text.match(/^event: .*$/gm)).toEqual([
      "event: note.create",
      "event: note.update",
      "event: note.delete",
    ]);
    expect(seen.text).not.toContain("hidden");
    await api.close();
  });

  it("shows nothing of records that the caller may not read", async () => {
    const { api, origin } = await boot();
    const [anyone, root] = [await listen(origin), await listen(origin, { "x-user": "root" })];
    const { id } = await api.asSystem().diary.create({ text: "dear diary" });
    await api.asSystem().diary.delete(id);
    await api.asSystem().note.create({ text: "last" });
    await vi.waitFor(() => expect(anyone.seen.text).toContain("last"), 5_000);
    await vi.waitFor(() => expect(root.seen.text).toContain("last"), 5_000);
    expect(anyone.seen.text).not.toContain("diary");
    expect(root.seen.text).toContain("event: diary.delete");
    await api.close();
  });

  it("ends when the app closes, which does not wait for it", async () => {
    const { api, origin } = await boot();
    const { seen, reading } = await listen(origin);
    await api.close();
    await reading;
    expect(seen.isOver).toBe(true);
  });
});
