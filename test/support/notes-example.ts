import { once } from "node:events";
import { get, request as httpRequest, type IncomingMessage } from "node:http";
import { embedded, noopLogger } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPeople } from "../../examples/notes/add-people.ts";
import { createNotes } from "../../examples/notes/api.ts";
import { freshSqliteFile } from "./databases.ts";
import { endProcess, type RunningExample } from "./example-process.ts";
import { request } from "./http.ts";
import { untilRefused } from "./until-refused.ts";

/** More than the buffers between two processes hold, so that an export stays in progress until its reader continues. */
const NOTES = 2_500;
const TEXT = "lorem ipsum ".repeat(800);
const UPLOADS = 20;

export interface NotesHost {
  /** Starts the example with these variables added to its environment. */
  start(env: Readonly<Record<string, string>>): Promise<RunningExample>;
  /** The exit code after SIGTERM. */
  readonly exitCode: number;
}

/** Fills a file with enough notes of Bob. */
async function fill(file: string): Promise<void> {
  const api = createNotes({ driver: embedded({ file }), logger: noopLogger });
  await addPeople(api);
  const now = new Date();
  const one = { text: TEXT, published: false, authorId: "bob", createdAt: now, updatedAt: now };
  await api.driver.createMany(
    "note",
    Array.from({ length: NOTES }, (_, i) => ({ ...one, id: `n${i}`, title: `Note ${i}` })),
  );
  await api.close();
}

/** A note of Ann that the server has begun to read. */
async function beginUpload(port: number) {
  const headers = { authorization: "Bearer ann", "content-type": "application/json", expect: "100-continue" };
  const upload = httpRequest({ port, method: "POST", path: "/api/notes", agent: false, headers });
  upload.flushHeaders();
  await once(upload, "continue");
  return upload;
}

async function beginExport(port: number): Promise<IncomingMessage> {
  const headers = { authorization: "Bearer bob" };
  const [response] = await once(get({ port, path: "/api/notes/export?format=csv", agent: false, headers }), "response");
  await once(response, "readable");
  return response as IncomingMessage;
}

/** The behaviour of the notes in `examples/notes`, shared by every server that includes them. */
export function testNotesServer(name: string, { start, exitCode }: NotesHost): void {
  describe(name, { timeout: 120_000 }, () => {
    let example: RunningExample;
    let file: string;
    let remove: () => Promise<void>;
    const as = (token: string | undefined, method: string, path: string, body?: unknown) =>
      request(example.url, method, path, { token, body });

    beforeAll(async () => {
      ({ file, remove } = await freshSqliteFile());
      await fill(file);
      example = await start({ NOTES_FILE: file });
    }, 180_000);
    afterAll(async () => {
      if (example !== undefined) await endProcess(example);
      await remove?.();
    });

    it("serves the API: only its author sees a note until it is published", async () => {
      const { status, json, headers } = await as("ann", "POST", "/api/notes", { title: " Tea " });
      expect([status, json.title, json.authorId, json.published]).toEqual([201, "Tea", "ann", false]);
      const path = headers.get("location") ?? "";
      expect(path).toBe(`/api/notes/${json.id}`);
      expect((await as("ann", "GET", path)).status).toBe(200);
      expect((await as("bob", "GET", path)).status).toBe(403);
      expect((await as(undefined, "POST", "/api/notes", { title: "Tea" })).json.code).toBe("UNAUTHENTICATED");
      expect((await as("ann", "PATCH", path, { published: true })).status).toBe(200);
      expect((await as(undefined, "GET", `${path}?include=author`)).json.author.name).toBe("Ann");
    });

    it("has its own page that lists only published notes", async () => {
      const text = await (await fetch(example.url)).text();
      expect(text).toContain("Hello");
      expect(text).not.toContain("Note 1");
    });

    it("answers 200 interleaved requests of two callers with their own notes", async () => {
      const answers = Array.from({ length: 200 }, async (_, i) => {
        const [token, other] = i % 2 === 0 ? ["ann", "bob"] : ["bob", "ann"];
        const { json } = await as(token, "POST", "/api/notes", { title: `${token} ${i}` });
        const path = `/api/notes/${json.id}`;
        const [own, foreign] = await Promise.all([as(token, "GET", path), as(other, "GET", path)]);
        return [json.authorId, own.json.title, foreign.status];
      });
      expect(await Promise.all(answers)).toEqual(
        Array.from({ length: 200 }, (_, i) => {
          const token = i % 2 === 0 ? "ann" : "bob";
          return [token, `${token} ${i}`, 403];
        }),
      );
    });

    it(`finishes ${UPLOADS} requests and an export at SIGTERM, refuses new ones, and exits with ${exitCode}`, async () => {
      const { port, child, ended } = example;
      const exported = await beginExport(port);
      const uploads = await Promise.all(Array.from({ length: UPLOADS }, () => beginUpload(port)));
      child.kill("SIGTERM");
      await untilRefused(port);
      const answers = uploads.map(async (upload, i) => {
        upload.end(JSON.stringify({ title: `Late ${i}` }));
        const [response] = (await once(upload, "response")) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      });
      expect(await Promise.all(answers)).toEqual(Array(UPLOADS).fill(201));
      let lines = 0;
      for await (const piece of exported as AsyncIterable<Buffer>)
        for (const byte of piece) if (byte === 10) lines += 1;
      expect(lines).toBeGreaterThan(NOTES);
      expect(exported.complete).toBe(true);
      expect(await ended).toBe(exitCode);
    });
  });
}
