import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express5, { type Express, type RequestHandler } from "express";
import { expect, it } from "vitest";
import { expressAdapter } from "../../../src/adapters/express/index.ts";
import type { Parser } from "../../support/adapter-case.ts";
import { hosting, type StartHost, testAdapter } from "../../support/adapter-contract.ts";
import { createContractApp } from "../../support/contract-app.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { listen } from "../listen.ts";

// The alias has no types of its own; the parts used here are the same in both versions.
const { default: express4 } = (await import("express4" as string)) as { default: typeof express5 };

const pass: RequestHandler = (_request, _response, next) => next();

let turn = 0;
for (const [version, express] of [
  ["express 5", express5],
  ["express 4", express4],
] as const) {
  const inside = (prepare: (app: Express) => void, base?: string): StartHost =>
    hosting(async (api) => {
      const app = express();
      prepare(app);
      if (base === undefined) app.use(expressAdapter(api));
      else app.use(base, expressAdapter(api));
      const server = app.listen(0, "127.0.0.1");
      await once(server, "listening");
      const close = async () => {
        server.close();
        server.closeAllConnections();
        await api.close();
      };
      const { port } = server.address() as AddressInfo;
      return { port, close, root: base ?? "/api", endpoints: base ?? "" };
    });

  // As the first middleware, the adapter takes its requests before Express does; behind another one it cannot.
  testAdapter(
    version,
    inside(() => {}),
  );
  testAdapter(
    `${version} behind another middleware`,
    inside((app) => app.use(pass)),
    { turn: turn++ },
  );
  testAdapter(
    `${version} below /v1/deep`,
    inside(() => {}, "/v1/deep"),
    { turn: turn++ },
  );
  testAdapter(
    `${version} below /v1/deep behind another middleware`,
    inside((app) => app.use(pass), "/v1/deep"),
    { turn: turn++ },
  );

  it(`leaves other paths to the routes of ${version}, however they are spelled`, async () => {
    for (const before of [[], [pass]]) {
      const api = await createContractApp();
      const app = express().use(...before, expressAdapter(api));
      app.use((request, response) => void response.send(`mine: ${request.originalUrl}`));
      const port = await listen(app);
      const answerTo = async (target: string) => {
        const [response] = await rawRequest(port, requestBytes("GET", target));
        return response?.status === 200 ? response.body : response?.status;
      };
      for (const target of [
        "/",
        "/about",
        "/files/a%2Fb",
        "/files//x",
        "/%zz",
        "/a/../api/films",
        "/apis",
        "/API/films",
      ])
        expect(await answerTo(target)).toBe(`mine: ${target}`);
      expect(await answerTo("/health/live")).toBe('{"status":"ok"}');
      expect(await answerTo("/api/nowhere")).toBe(404);
      expect(await answerTo("/api")).toBe(404);
      expect(await answerTo("/api/films/../../about")).toBe(400);
      expect(await answerTo("/api/%zz")).toBe(400);
    }
  });

  const limit = "3mb";
  const type = () => true;
  const parsers: Record<Parser, RequestHandler> = {
    json: express.json({ limit }),
    raw: express.raw({ limit, type }),
    text: express.text({ limit, type }),
  };
  for (const [parser, middleware] of Object.entries(parsers) as [Parser, RequestHandler][])
    testAdapter(
      `${version} after the ${parser} parser`,
      inside((app) => app.use(middleware)),
      { parser, turn: turn++ },
    );
}
