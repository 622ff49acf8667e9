// A server that shutdown.test.ts ends while it is busy. After the first batch of an export, every read from the database
// waits until the parent sends "go". Its arguments are the host and the grace period in milliseconds.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve as serveHono } from "@hono/node-server";
import express5 from "express";
import { Hono } from "hono";
import { createPlugin, memoryDriver, noopLogger } from "keelson";
import { expressAdapter } from "keelson/express";
import { honoAdapter } from "keelson/hono";
import { gracefully, serve } from "keelson/node";
import { withMiddleware } from "keelson/plugin";
import { createNotes } from "../../examples/notes/api.ts";
import { deferred } from "../support/deferred.ts";

// The second copy of Express has no types of its own.
const { default: express4 } = (await import("express4" as string)) as { default: typeof express5 };

const NOTES = 5_000;
const [host = "serve", gracePeriod] = process.argv.slice(2);
const options = { gracePeriod: Number(gracePeriod) };
const go = deferred<void>();
process.on("message", () => go.resolve());

let begun = 0;
const begin = () => void process.send?.({ begun: ++begun });

/** The first counted read is that of the export's first batch; all others wait. */
let reads = Number.NEGATIVE_INFINITY;
const inner = memoryDriver();
const driver = withMiddleware(inner, async (statement, next) => {
  if (statement.kind === "find" && reads++ > 0) await go.promise;
  return next(statement);
});
const counting = createPlugin({ id: "counting", hooks: { "request:start": begin } });
const notes = createNotes({ driver, plugins: [counting], logger: noopLogger });
await notes.ready;
await notes.asSystem().user.create({ id: "ann", name: "Ann" });
const now = new Date();
const note = { title: "A note", text: null, published: true, authorId: "ann", createdAt: now, updatedAt: now };
await driver.createMany(
  "note",
  Array.from({ length: NOTES }, (_, i) => ({ ...note, id: `n${i}` })),
);
reads = 0;

const api = {
  ...notes,
  async close() {
    await notes.close();
    process.send?.({ closed: true });
  },
};

/** Hosts with their own server, and their own route that waits too. */
const hosts: Readonly<Record<string, () => Server>> = {
  "Express 5": () => withExpress(express5()),
  "Express 4": () => withExpress(express4()),
  Hono() {
    const app = new Hono();
    app.use(honoAdapter(api));
    app.get("/own", async (c) => {
      begin();
      await go.promise;
      return c.text("own");
    });
    return serveHono({ fetch: app.fetch, port: 0 }) as Server;
  },
};

function withExpress(app: ReturnType<typeof express5>): Server {
  app.use(expressAdapter(api));
  app.get("/own", async (_request, response) => {
    begin();
    await go.promise;
    response.send("own");
  });
  return createServer(app as RequestListener).listen(0);
}

async function start(): Promise<number> {
  const listen = hosts[host];
  if (listen === undefined) return (await serve(api, { port: 0, ...options })).port;
  const server = listen();
  gracefully(server, api, options);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

process.send?.({ port: await start() });
