import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "../../../src/adapters/node/index.ts";
import { hosting, startNode, testAdapter } from "../../support/adapter-contract.ts";

testAdapter("node:http", startNode);

testAdapter(
  "a listener of node:http below /v1/deep",
  hosting(async (api) => {
    const base = "/v1/deep";
    const server = createServer(toNodeHandler(api, { base })).listen(0, "127.0.0.1");
    await once(server, "listening");
    const close = async () => {
      server.close();
      server.closeAllConnections();
      await api.close();
    };
    return { port: (server.address() as AddressInfo).port, root: base, endpoints: base, close };
  }),
);
