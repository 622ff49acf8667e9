import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Express } from "express";
import type { Hono } from "hono";
import type { Keelson } from "keelson";
import type { NextHandlers } from "keelson/next";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, type Page } from "../../support/page.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, tableBelow } from "./table-below.ts";

interface Hosts {
  readonly api: Keelson;
  readonly onNode: Server;
  readonly onExpress: Express;
  readonly onHono: Hono;
  readonly onNext: NextHandlers;
  readonly onAnything: (request: Request) => Promise<Response>;
}

let page: Page;
let hosts: Hosts;
const servers: Server[] = [];
/** Sends one request to each host. */
const senders: Record<string, (path: string, init: RequestInit) => Promise<Response>> = {};

beforeAll(async () => {
  page = openPage("concepts/adapters");
  hosts = await page.load<Hosts>("hosts.ts");
  const onServers = {
    express: createServer(hosts.onExpress as unknown as RequestListener),
    hono: createServer(getRequestListener(hosts.onHono.fetch)),
    node: hosts.onNode,
  };
  for (const [name, server] of Object.entries(onServers)) {
    await once(server.listen(0, "127.0.0.1"), "listening");
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    senders[name] = (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init);
  }
  senders.next = async (path, init) => {
    const request = new Request(`http://host.invalid${path}`, init);
    const segments = (path.split("?")[0] as string).split("/").slice(2);
    const handler = hosts.onNext[(init.method ?? "GET") as keyof NextHandlers];
    return handler(request, { params: Promise.resolve({ path: segments }) });
  };
  senders.fetch = (path, init) => hosts.onAnything(new Request(`http://host.invalid${path}`, init));
});
afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await hosts.api.close();
  page.remove();
});

const HEADERS = [
  "content-type",
  "x-content-type-options",
  "cache-control",
  "vary",
  "allow",
  "location",
  "x-total-count",
];

/** A response without the parts that differ each time. */
async function seen(response: Response): Promise<unknown> {
  const text = (await response.text())
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>")
    .replace(/\d{4}-\d\d-\d\dT[^"]+/g, "<time>");
  const headers = HEADERS.map((name) => response.headers.get(name)?.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "<id>"));
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  return [response.status, headers, text];
}

describe("docs/concepts/adapters.md", () => {
  const json = { "content-type": "application/json" };
  const ann = { ...json, authorization: "Bearer ann" };
  const tooLong = JSON.stringify({ text: "x".repeat(1_100_000) });
  const cases: readonly {
    status: number;
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string;
  }[] = [
    { status: 200, method: "GET", path: "/api/notes/n1" },
    { status: 200, method: "HEAD", path: "/api/notes/n1" },
    { status: 204, method: "OPTIONS", path: "/api/notes/n1" },
    { status: 405, method: "POST", path: "/api/notes/n1", headers: json, body: "{}" },
    { status: 400, method: "GET", path: "/api/notes?texx=1" },
    { status: 400, method: "GET", path: "/api/%2F/n1" },
    { status: 404, method: "GET", path: "/api/none" },
    { status: 401, method: "POST", path: "/api/notes", headers: json, body: "{" },
    { status: 400, method: "POST", path: "/api/notes", headers: ann, body: "{" },
    { status: 415, method: "POST", path: "/api/notes", headers: { ...ann, "content-type": "text/plain" }, body: "x" },
    { status: 413, method: "POST", path: "/api/notes", headers: ann, body: tooLong },
    { status: 201, method: "POST", path: "/api/notes", headers: ann, body: '{"text":"x"}' },
  ];

  it.each(cases)("gives $status for $method $path on every host", async ({ status, path, ...init }) => {
    const expected = await seen(await (senders.node as (typeof senders)[string])(path, init));
    expect((expected as readonly unknown[])[0]).toBe(status);
    for (const [name, send] of Object.entries(senders))
      expect(await seen(await send(path, init)), name).toEqual(expected);
  });

  it("passes on paths outside the API", async () => {
    const answers = ["node", "express", "hono"].map(async (name) => (await senders[name]?.("/mine", {}))?.text());
    const [onNode, ...others] = await Promise.all(answers);
    expect(onNode).toContain('"code":"NOT_FOUND"');
    for (const text of others) expect(text).not.toContain("NOT_FOUND");
  });

  it("sets the headers that it names on every response", async () => {
    const [, said] = tableBelow(page.text, "What is the same").find(([what]) => what === "headers") as [string, string];
    const { headers } = await hosts.onAnything(new Request("http://host.invalid/api/notes/n1"));
    for (const [, name, value] of said.matchAll(/`([\w-]+)(?:: ([^`]+))?`/g)) {
      expect(headers.has(name as string), name).toBe(true);
      if (value !== undefined) expect(headers.get(name as string)).toBe(value);
    }
  });

  it("lists the options of every adapter, and everything that is passed on", () => {
    const folder = "src/adapters";
    const graceful = membersOf(`${folder}/node/gracefully.ts`, "GracefulOptions");
    const options = {
      serve: [...membersOf(`${folder}/node/serve.ts`, "ServeOptions"), ...graceful, "getUser"],
      toNodeHandler: membersOf(`${folder}/node/to-node-handler.ts`, "NodeHandlerOptions"),
      expressAdapter: membersOf(`${folder}/express/express-adapter.ts`, "ExpressAdapterOptions"),
      honoAdapter: membersOf(`${folder}/hono/hono-adapter.ts`, "HonoAdapterOptions"),
      toNextHandler: membersOf(`${folder}/next/to-next-handler.ts`, "NextHandlerOptions"),
    };
    for (const [name, members] of Object.entries(options))
      expect(columnOf(page.text, `Options of ${name}`).sort(), name).toEqual(members.sort());
    const request = membersOf("src/kernel/request/messages.ts", "KernelRequest");
    expect(columnOf(page.text, "What is handed over").sort()).toEqual(request.sort());
  });
});
