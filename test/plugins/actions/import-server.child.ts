// A server in a separate process: `import-server.ts <sqlite or postgres> <file or url>`. It reports its address, the progress
// of an import, and its peak memory in bytes.
import { serve } from "../../../src/adapters/node/index.ts";
import { createPlugin, keelson, noopLogger } from "../../../src/index.ts";
import { category, product, productsDriver } from "./import-products.ts";

const [, , kind = "", target = ""] = process.argv;
let stored = 0;

function tell(facts: object): void {
  process.send?.({ ...facts, stored, peak: process.resourceUsage().maxRSS * 1_024 });
}

const reporter = createPlugin({
  id: "reporter",
  version: "1.0.0",
  hooks: {
    "operation:committed": ({ entity, kind }) => {
      if (entity.name === "product" && kind === "create" && ++stored % 500 === 0) tell({});
    },
  },
});

const api = keelson({
  entities: [category, product],
  driver: productsDriver(kind, target),
  logger: noopLogger,
  plugins: [reporter],
});
for (const id of ["a", "b", "c"]) await api.asSystem().category.create({ id, name: id });
const { url } = await serve(api, { port: 0, hostname: "127.0.0.1" });
process.on("message", () => tell({ isAnswer: true }));
process.on("disconnect", () => process.exit());
tell({ url });
