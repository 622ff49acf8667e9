import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // The same names as `paths` in tsconfig.json: tests and examples import the package as its users do.
    alias: [
      { find: /^keelson$/, replacement: source("index.ts") },
      { find: /^keelson\/client$/, replacement: source("client/index.ts") },
      { find: /^keelson\/kernel$/, replacement: source("kernel.ts") },
      { find: /^keelson\/(express|hono|next|node)$/, replacement: source("adapters/$1/index.ts") },
      { find: /^keelson\/prisma$/, replacement: source("drivers/prisma/index.ts") },
      { find: /^keelson\/testing$/, replacement: source("testing/index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    // One PostgreSQL for the whole run, on machines where none answers.
    globalSetup: ["test/support/postgres-server.ts"],
    typecheck: { enabled: true, checker: "tsc", include: ["test/types/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    // One process per file: native database bindings and signal handlers do not share one.
    pool: "forks",
    // Files wait for databases and processes of their own as much as they work: one core each is not too many.
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 240_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "html", "json-summary"],
      thresholds: { lines: 95, "src/kernel/**/*.ts": { lines: 100 } },
    },
  },
});
