import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  action,
  embedded,
  entity,
  importAction,
  json,
  keelson,
  noopLogger,
  string,
  workflow,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { freshSqliteFile } from "../support/databases.ts";
import { type RunningApp, request, startApp } from "../support/http.ts";

const KIBIBYTE = 1_024;
const note = entity("note", { title: string.optional(), data: json.optional() })
  .rules({ read: ["everyone"], create: ["everyone"] })
  .actions({
    upload: action()
      .post()
      .handler(async ({ body }) => {
        let size = 0;
        if (body?.kind === "stream") for await (const chunk of body.stream) size += chunk.byteLength;
        return { size };
      }),
    large: action()
      .post()
      .workflow(workflow("large").step("make", () => "x".repeat(3 * KIBIBYTE * KIBIBYTE))),
    largeData: action()
      .post()
      .workflow(workflow("largeData").step("leave", ({ set }) => set("x", "x".repeat(3 * KIBIBYTE * KIBIBYTE)))),
    many: action()
      .post()
      .workflow(
        workflow(Array.from({ length: 18 }, (_, i) => ({ name: `s${i}`, execute: () => "x".repeat(2_000_000) }))),
      ),
  });

let running: RunningApp;
const { file, remove } = await freshSqliteFile();
const api = keelson({ entities: [note], driver: embedded({ file }), logger: noopLogger });
beforeAll(async () => {
  running = await startApp(api);
});
afterAll(async () => {
  await running.close();
  await remove();
});

/** Sends an invalid JSON body of this many bytes, in chunks, with or without Content-Length. */
function upload(bytes: number, isAnnounced: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/octet-stream", ...(isAnnounced ? { "content-length": bytes } : {}) };
    const sent = httpRequest(`${running.url}/api/notes/upload`, { method: "POST", headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode as number);
    });
    sent.on("error", reject);
    for (let left = bytes; left > 0; left -= 64 * KIBIBYTE) sent.write(Buffer.alloc(Math.min(left, 64 * KIBIBYTE)));
    sent.end();
  });
}

describe("the body of an action without input", () => {
  it.each([true, false])("has the limit of all bodies (announced: %s)", async (isAnnounced) => {
    expect(await upload(KIBIBYTE * KIBIBYTE, isAnnounced)).toBe(200);
    expect(await upload(KIBIBYTE * KIBIBYTE + 1, isAnnounced)).toBe(413);
  });
});

describe("the body of a request", () => {
  it.each([
    ["lists", `{"data":[${"[],".repeat(60_000)}1]}`],
    ["objects", `{"data":{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join()}}}`],
    ["names", `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join()}}`],
  ])("has 50,000 values at most: %s", async (_kind, body) => {
    const response = await fetch(`${running.url}/api/notes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { message: "The body has more than 50000 values" },
    ]);
  });

  it("may have exactly that many", async () => {
    const data = Array.from({ length: 49_000 }, () => 1);
    expect((await request(running.url, "POST", "/api/notes", { body: { data } })).status).toBe(201);
  });
});

describe("an error response about invalid values", () => {
  const tagged = entity("tagged", { tags: string.array() })
    .rules({ create: ["everyone"], read: ["everyone"] })
    .actions({ import: importAction });
  const bytesOf = async (path: string, body: unknown): Promise<number> => {
    const app = createTestApp({ entities: [tagged], logger: noopLogger });
    const answer = await app.as(null).request("POST", path, body);
    await app.close();
    return JSON.stringify(answer.body).length;
  };

  it("names only some of a list's invalid items", async () => {
    expect(await bytesOf("/api/taggeds", { tags: Array(40_000).fill(1) })).toBeLessThan(4_000);
    expect(await bytesOf("/api/taggeds/import", Array(10).fill({ tags: Array(4_000).fill(1) }))).toBeLessThan(12_000);
  });

  it("shows the beginning of a long unknown name", async () => {
    expect(await bytesOf("/api/taggeds", { tags: [], ["x".repeat(500_000)]: 1 })).toBeLessThan(1_000);
  });
});

describe("conditions in the process", () => {
  const client = api.as({ id: "u1" }).note;
  const nested = (depth: number, key: "NOT" | "AND"): object => {
    let where: object = { title: "a" };
    for (let level = 0; level < depth; level++) where = { [key]: key === "NOT" ? where : [where] };
    return where;
  };

  it.each(["NOT", "AND"] as const)("are refused when they are nested too deeply: %s", async (key) => {
    await expect(client.list({ where: nested(20_000, key) as never })).rejects.toMatchObject({ status: 400 });
    await expect(client.count(nested(20_000, key) as never)).rejects.toMatchObject({ status: 400 });
    await expect(api.driver.findMany("note", { where: nested(20_000, key) as never })).rejects.toMatchObject({
      status: 400,
    });
  });

  it("are refused when there are too many", async () => {
    const where = { OR: Array.from({ length: 200_000 }, () => ({ title: "a" })) } as never;
    await expect(client.list({ where })).rejects.toThrow("too many conditions");
  });
});

describe("workflows", () => {
  it("have 1,000 steps at most", () => {
    const steps = Array.from({ length: 1_001 }, (_, i) => ({ name: `s${i}`, execute: () => i }));
    expect(() => workflow(steps)).toThrow('"workflow" has 1001 steps, and may have 1000');
  });

  it.each([
    ["results of more than 2 MiB", "large", "make"],
    ["data of more than 2 MiB", "largeData", "leave"],
    ["results of more than 32 MiB together", "many", "s16"],
  ])("do not journal %s: the step that returns them fails", async (_what, path, failedStep) => {
    const { status, json } = await request(running.url, "POST", `/api/notes/${path}`, { body: {} });
    expect([status, json]).toMatchObject([500, { code: "WORKFLOW_FAILED", failedStep }]);
  });
});
