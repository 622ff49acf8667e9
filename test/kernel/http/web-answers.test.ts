import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { createApp, createPlugin, endpoint } from "../../../src/gate/index.ts";
import { Reply } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const PAGE = "a page ".repeat(100);

describe("a response of app.fetch", () => {
  const logger = recordingLogger();
  const other = createServer((_request, response) => {
    const packed = gzipSync(PAGE);
    response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.byteLength, "x-from": "there" });
    response.end(packed);
  });
  let returned = false;
  async function* pieces() {
    try {
      yield "a";
    } finally {
      returned = true;
    }
  }
  const open = { rules: ["everyone"] };
  const kernel = createApp({
    entities: [],
    driver: memoryDriver(),
    logger,
    plugins: [
      createPlugin({
        id: "pages",
        hooks: { "route:authorize": (ask) => void (ask.allowed = true) },
        endpoints: {
          fetched: endpoint("/fetched", {
            ...open,
            handler: () => fetch(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`),
          }),
          packed: endpoint("/packed", {
            ...open,
            handler: () => new Response(gzipSync(PAGE), { headers: { "content-encoding": "gzip" } }),
          }),
          unwritable: endpoint("/unwritable", {
            ...open,
            handler: () => new Reply(200, pieces(), { "x-secret": "kept\nback" }),
          }),
        },
      }),
    ],
  });
  const get = (path: string) => kernel.fetch(new Request(`http://host.invalid${path}`));

  beforeAll(() => new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve)));
  afterAll(async () => {
    await kernel.close();
    other.closeAllConnections();
    other.close();
  });

  it("that a handler fetched has no header of the removed encoding", async () => {
    const response = await get("/fetched");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("content-length")).toBeNull();
    expect(response.headers.get("x-from")).toBe("there");
    expect(await response.text()).toBe(PAGE);
  });

  it("that a handler created keeps its own encoding", async () => {
    const response = await get("/packed");
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(gzipSync(PAGE));
  });

  it("that cannot be written is an error without details, and its stream is cancelled", async () => {
    const response = await get("/unwritable");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("kept");
    expect(response.headers.get("x-secret")).toBeNull();
    expect(logger.lines.filter((line) => line.startsWith("error A response could not be sent"))).toHaveLength(1);
    await kernel.close();
    expect(returned).toBe(false); // a stream that has not begun has nothing to end
  });
});
