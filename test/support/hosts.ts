import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { serve } from "../../src/adapters/node/index.ts";
import { expressAdapter, honoAdapter, type Keelson } from "../../src/index.ts";

export const HOSTS = ["node", "express", "hono"] as const;
export type HostName = (typeof HOSTS)[number];

/** One app behind three servers. */
export interface Hosts {
  readonly ports: Readonly<Record<HostName, number>>;
  readonly servers: readonly Server[];
  /** Closes the servers and the app. */
  close(): Promise<void>;
}

/** Serves a started app on free ports of 127.0.0.1. */
export async function serveOnHosts(api: Keelson): Promise<Hosts> {
  const node = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false });
  const others = {
    express: express()
      .use(expressAdapter(api, { shortcut: true }))
      .listen(0, "127.0.0.1"),
    hono: createAdaptorServer({ fetch: new Hono().use(honoAdapter(api)).fetch }).listen(0, "127.0.0.1") as Server,
  };
  for (const server of Object.values(others)) if (!server.listening) await once(server, "listening");
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  return {
    ports: { node: node.port, express: portOf(others.express), hono: portOf(others.hono) },
    servers: [node.server, ...Object.values(others)],
    async close() {
      for (const server of Object.values(others)) {
        server.close();
        server.closeAllConnections();
      }
      await node.close();
    },
  };
}
