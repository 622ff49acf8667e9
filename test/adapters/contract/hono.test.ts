import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { honoAdapter } from "../../../src/adapters/hono/index.ts";
import type { OwnAnswers, Parser } from "../../support/adapter-case.ts";
import { hosting, type StartHost, testAdapter } from "../../support/adapter-contract.ts";
import type { ContractApp } from "../../support/contract-app.ts";

/** A Hono app on @hono/node-server; the API is below `base`, or at its own path. */
const inside = (build: (api: ContractApp) => Hono, base?: string): StartHost =>
  hosting(async (api) => {
    const server = createAdaptorServer({ fetch: build(api).fetch }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const close = async () => {
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await api.close();
    };
    return { port: (server.address() as AddressInfo).port, close, root: base ?? "/api", endpoints: base ?? "" };
  });

/** Responses of @hono/node-server, and Hono's routing: both use the URL of a Request. */
const anywhere: OwnAnswers = {
  "GET …/films\\f1 is refused": {
    why: "@hono/node-server refuses a backslash in a path",
    status: 400,
    headers: { "content-length": undefined },
  },
  "a Host that is no host": {
    why: "@hono/node-server cannot make a URL of it",
    status: 400,
    headers: { "content-length": undefined },
  },
};
const below: OwnAnswers = {
  ...anywhere,
  "GET …/../films is refused": {
    why: "Hono routes by the path without its dots, which is not below the mount path",
    status: 404,
    headers: { "content-type": "text/plain; charset=UTF-8" },
  },
};

const pass: MiddlewareHandler = (_context, next) => next();

testAdapter(
  "Hono",
  inside((api) => new Hono().use(honoAdapter(api))),
  { own: anywhere },
);
testAdapter(
  "Hono as a route",
  inside((api) => new Hono().route("/", honoAdapter<Hono>(api))),
  { own: anywhere, turn: 0 },
);
testAdapter(
  "Hono behind another middleware",
  inside((api) => new Hono().use(pass).use(honoAdapter(api))),
  { own: anywhere, turn: 1 },
);
testAdapter(
  "Hono below /api/*",
  inside((api) => new Hono().all("/api/*", honoAdapter(api)), "/api"),
  { own: below, turn: 2 },
);
testAdapter(
  "Hono as a route below /v1/deep",
  inside((api) => new Hono().route("/v1/deep", honoAdapter<Hono>(api)), "/v1/deep"),
  { own: below, turn: 3 },
);

const reads: readonly (readonly [name: string, parser: Parser, read: (context: Context) => Promise<unknown>])[] = [
  ["JSON", "text", ({ req }) => req.json()],
  ["text", "text", ({ req }) => req.text()],
  ["bytes", "raw", ({ req }) => req.arrayBuffer()],
];
for (const [index, [name, parser, read]] of reads.entries()) {
  const reader: MiddlewareHandler = async (context, next) => {
    await read(context).catch(() => {});
    return next();
  };
  testAdapter(
    `Hono behind a middleware that reads the body as ${name}`,
    inside((api) => new Hono().use(reader).use(honoAdapter(api))),
    { parser, own: anywhere, turn: index },
  );
}
