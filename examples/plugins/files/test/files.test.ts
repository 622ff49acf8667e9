import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keelson, memoryDriver, noopLogger } from "keelson";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { diskStore, type FileStore, files, s3Store } from "../src/index.ts";

/** A store and the number of files in it. */
interface Opened {
  readonly store: FileStore;
  count(): number;
}

async function openDisk(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "files-"));
  return { store: diskStore(join(folder, "inner")), count: () => readdirSync(join(folder, "inner")).length };
}

/** A server with the part of the S3 protocol that the store uses; it refuses requests that are not signed. */
async function openS3(): Promise<Opened> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    if (!request.headers.authorization?.startsWith("AWS4-HMAC-SHA256 Credential=id/"))
      return response.writeHead(403).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const key = request.url as string;
    if (request.method === "PUT") objects.set(key, Buffer.concat(chunks));
    if (request.method === "DELETE") objects.delete(key);
    const found = objects.get(key);
    if (request.method === "GET") return response.writeHead(found === undefined ? 404 : 200).end(found);
    return response.writeHead(request.method === "PUT" ? 200 : 204).end();
  }).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket`;
  const credentials = { accessKeyId: "id", secretAccessKey: "secret", region: "eu-central-1" };
  return { store: s3Store(url, credentials), count: () => objects.size };
}

describe.each([
  ["a folder", openDisk],
  ["S3", openS3],
])("files in %s", (_, open) => {
  async function boot(maxBytes = 1_000) {
    const { store, count } = await open();
    const rules = { create: ["authenticated"], read: ["authenticated"], delete: ["admin"] };
    const api = keelson({
      entities: [],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [files({ store, rules, maxBytes })],
      getUser: ({ headers }) => {
        const id = headers.get("x-user");
        return id === null ? null : { id, role: id === "root" ? "admin" : "user" };
      },
    });
    onTestFinished(() => api.close());
    const send = (method: string, path: string, user?: string, body?: BodyInit) =>
      api.fetch(
        new Request(`http://test.invalid/api/files${path}`, {
          method,
          headers: { "content-type": "image/png", ...(user !== undefined && { "x-user": user }) },
          ...(body !== undefined && { body }),
        }),
      );
    return { send, count };
  }
  const picture = new Uint8Array([1, 2, 3, 250]);

  it("come back as they were sent, as attachments of their type", async () => {
    const { send } = await boot();
    const made = await send("POST", "/content?name=a%20b.png", "ann", picture);
    const record = (await made.json()) as { id: string };
    expect(record).toMatchObject({ name: "a b.png", type: "image/png", size: 4 });
    expect(record).not.toHaveProperty("key");
    const got = await send("GET", `/${record.id}/content`, "ben");
    expect(new Uint8Array(await got.arrayBuffer())).toEqual(picture);
    expect(got.headers.get("content-type")).toBe("image/png");
    expect(got.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''a%20b.png");
  });

  it("are under the rules, which are asked before a byte is stored", async () => {
    const { send, count } = await boot();
    const { id } = (await (await send("POST", "/content?name=a", "ann", picture)).json()) as { id: string };
    expect((await send("POST", "/content?name=b", undefined, picture)).status).toBe(401);
    expect((await send("GET", `/${id}/content`)).status).toBe(401);
    expect((await send("DELETE", `/${id}`, "ann")).status).toBe(403);
    expect(count()).toBe(1);
  });

  it("are removed from the store with their record", async () => {
    const { send, count } = await boot();
    const { id } = (await (await send("POST", "/content?name=a", "ann", picture)).json()) as { id: string };
    expect((await send("DELETE", `/${id}`, "root")).status).toBe(200);
    await vi.waitFor(() => expect(count()).toBe(0), 5_000);
    expect((await send("GET", `/${id}/content`, "ann")).status).toBe(404);
  });

  it("are refused when they are too large, empty or have no name", async () => {
    const { send } = await boot(3);
    expect((await send("POST", "/content?name=a", "ann", picture)).status).toBe(413);
    expect((await send("POST", "/content?name=a", "ann")).status).toBe(400);
    expect((await send("POST", "/content", "ann", picture)).status).toBe(400);
    expect(await (await send("GET", "", "ann")).json()).toEqual([]);
  });

  it("come to be by uploads only", async () => {
    const { send } = await boot();
    const init = JSON.stringify({ name: "a", key: "../secret" });
    expect((await send("POST", "", "ann", init)).status).toBeGreaterThanOrEqual(400);
  });
});
