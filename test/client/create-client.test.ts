import { entity, keelson, memoryDriver, string } from "keelson";
import { createClient } from "keelson/client";
import { describe, expect, it, onTestFinished } from "vitest";

/** A client of an in-process app, and the requests that reached it. */
async function open(options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["everyone"] });
  const api = keelson({ entities: [note], driver: memoryDriver({ note: [{ id: "n1", text: "one" }] }) });
  onTestFinished(() => api.close());
  const seen: (RequestInit & { url: string; headers: Headers })[] = [];
  const client = createClient<typeof api>({
    baseUrl: "https://notes.example/api/",
    fetch(url, init) {
      seen.push({ ...init, url, headers: new Headers(init.headers) });
      return api.fetch(new Request(url, init));
    },
    ...options,
  });
  return { client, seen };
}

describe("a client", () => {
  it("gets the token before each request, and sends none without one", async () => {
    const tokens = ["one", Promise.resolve("two"), null, undefined, ""];
    const { client, seen } = await open({ getToken: () => tokens.shift() as string });
    for (let i = 0; i < 5; i++) await client.note.list();
    expect(seen.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer one",
      "Bearer two",
      null,
      null,
      null,
    ]);
  });

  it("makes no request when getToken fails", async () => {
    const { client, seen } = await open({ getToken: () => Promise.reject(new RangeError("signed out")) });
    await expect(client.note.list()).rejects.toThrow("signed out");
    expect(seen).toEqual([]);
  });

  it("sends its headers, overridden by those of a call, and cookies with the option", async () => {
    const { client, seen } = await open({
      headers: { "X-App": "notes", "accept-language": "en" },
      getToken: () => "token",
      credentials: "include",
    });
    await client.note.create({ text: "two" }, { headers: { "accept-language": "de", Authorization: "Basic x" } });
    await client.note.list();
    const [first, second] = seen;
    expect(Object.fromEntries(first?.headers ?? [])).toEqual({
      accept: "application/json",
      "accept-language": "de",
      authorization: "Basic x",
      "content-type": "application/json",
      "x-app": "notes",
    });
    expect(second?.headers.get("authorization")).toBe("Bearer token");
    expect(second?.headers.has("content-type")).toBe(false);
    expect(seen.map(({ credentials }) => credentials)).toEqual(["include", "include"]);
  });

  it("puts paths below its root, with or without a slash", async () => {
    const { client, seen } = await open();
    await client.note.get("n1", { select: ["text"] });
    expect(seen[0]).toMatchObject({ url: "https://notes.example/api/notes/n1?select=text", method: "GET" });
    expect(seen[0]).not.toHaveProperty("body");
    expect(seen[0]).not.toHaveProperty("credentials");
  });

  it("may be awaited, printed and stored, which sends nothing", async () => {
    const { client, seen } = await open();
    expect(await client).toBe(client);
    expect(await client.note).toBe(client.note);
    expect(JSON.stringify({ client, note: client.note })).toBe('{"client":{},"note":{}}');
    expect(String(Object.keys(client))).toBe("");
    expect(client.note.list).toBe(client.note.list);
    expect(seen).toEqual([]);
  });

  it("uses the platform's fetch by default", async () => {
    const given = globalThis.fetch;
    onTestFinished(() => {
      globalThis.fetch = given;
    });
    const client = createClient<{ entities: Record<never, never> }>({ baseUrl: "https://notes.example" });
    const urls: string[] = [];
    // A browser's fetch must be called on its window.
    globalThis.fetch = async function (this: unknown, url: unknown) {
      expect(this === undefined || this === globalThis).toBe(true);
      urls.push(String(url));
      return Response.json({ id: "r1" });
    };
    expect(await client.$runs.get("r1")).toEqual({ id: "r1" });
    expect(urls).toEqual(["https://notes.example/workflow-runs/r1"]);
  });
});
