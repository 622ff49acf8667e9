import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished } from "vitest";
import { expressAdapter } from "../../src/adapters/express/index.ts";
import { honoAdapter } from "../../src/adapters/hono/index.ts";
import { toNextHandler } from "../../src/adapters/next/index.ts";
import { toNodeHandler } from "../../src/adapters/node/index.ts";
import { fromWebRequest } from "../../src/kernel/http/fetch.ts";
import { rawRequest, requestBytes } from "../support/http.ts";
import { listen } from "./listen.ts";
import { reply, stubApp } from "./stub-app.ts";

// The alias has no types of its own; the parts used here are the same in both versions.
const { default: express4 } = (await import("express4" as string)) as { default: typeof express };

/** Responds with the address it receives. */
const echo = stubApp(async ({ address }) => reply({ address: address ?? null }));
const FORGED = ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "X-Real-IP: 192.0.2.1"];

async function told(port: number): Promise<unknown> {
  const [answer] = await rawRequest(port, requestBytes("GET", "/api", FORGED));
  return JSON.parse(answer?.body ?? "{}").address;
}

describe("the address of the client", () => {
  it.each([
    ["node:http", toNodeHandler(echo)],
    ["Express", express().set("trust proxy", true).use(expressAdapter(echo))],
    ["Express, after a middleware", express().use((_request, _response, next) => next(), expressAdapter(echo))],
    ["Express 4", express4().use(expressAdapter(echo))],
    ["Hono", getRequestListener(new Hono().use(honoAdapter(echo)).fetch)],
  ])("is the connection's on %s, for any headers", async (_host, listener) => {
    expect(await told(await listen(listener))).toBe("127.0.0.1");
  });

  it("is passed on unchanged, also for IPv6", async () => {
    const server = createServer(toNodeHandler(echo)).listen(0, "::1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const outgoing = httpRequest({ host: "::1", port: (server.address() as AddressInfo).port, path: "/api" }).end();
    const [answer] = await once(outgoing, "response");
    let text = "";
    for await (const chunk of answer) text += chunk;
    expect(JSON.parse(text)).toEqual({ address: "::1" });
  });

  it("is the option's result on hosts that do not report it to Hono or Next", async () => {
    const headers = { "x-platform-address": "192.0.2.7" };
    const asked = new Request("http://host/api/x", { headers });
    const hono = new Hono().use(
      honoAdapter(echo, { getAddress: ({ req }) => req.raw.headers.get("x-platform-address") ?? undefined }),
    );
    expect(await (await hono.fetch(asked)).json()).toEqual({ address: "192.0.2.7" });
    const params = Promise.resolve({ path: ["x"] });
    const next = toNextHandler(echo, {
      getAddress: ({ headers: sent }) => sent.get("x-platform-address") ?? undefined,
    });
    expect(await (await next.GET(asked, { params })).json()).toEqual({ address: "192.0.2.7" });
  });

  it("is unknown if the host does not report it: Hono without node, Next, fetch", async () => {
    const asked = () => new Request("http://host/api/x", { headers: { "x-forwarded-for": "192.0.2.1" } });
    expect(await (await new Hono().use(honoAdapter(echo)).fetch(asked())).json()).toEqual({ address: null });
    const params = Promise.resolve({ path: ["x"] });
    expect(await (await toNextHandler(echo).GET(asked(), { params })).json()).toEqual({ address: null });
    expect(fromWebRequest(asked()).address).toBeUndefined();
  });
});
