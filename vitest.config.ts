import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongFilesFirst } from "./test/support/long-files-first.ts";
import { amount } from "./test/support/suite.ts";

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // The same names as `paths` in tsconfig.json: tests and examples import the package as its users do.
    alias: [
      { find: /^keelson$/, replacement: source("index.ts") },
      { find: /^keelson\/(plugin|driver)$/, replacement: source("$1.ts") },
      { find: /^keelson\/(client|testing)$/, replacement: source("$1/index.ts") },
      { find: /^keelson\/react-query$/, replacement: source("client/react-query/index.ts") },
      { find: /^keelson\/(express|hono|next|node)$/, replacement: source("adapters/$1/index.ts") },
      { find: /^keelson\/prisma$/, replacement: source("drivers/prisma/index.ts") },
      {
        find: /^keelson\/(audit|idempotency|openapi|rate-limit|studio|telemetry)$/,
        replacement: source("plugins/$1/index.ts"),
      },
      { find: /^keelson\/better-auth$/, replacement: source("plugins/accounts/index.ts") },
      { find: /^keelson\/jwt$/, replacement: source("plugins/jwt-auth/index.ts") },
      { find: /^keelson\/dbos$/, replacement: source("plugins/workflows/dbos/index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts", "examples/plugins/*/test/*.test.ts"],
    // One PostgreSQL and one MariaDB for the whole run, on machines where none answers.
    globalSetup: ["test/support/postgres-server.ts", "test/support/mysql-server.ts"],
    // Types of the public surface; that everything compiles is one of the tests (test/docs/compile.test.ts).
    typecheck: {
      enabled: true,
      // The compiler in Go takes a seventh of the time; the long suite and `npm run types` take the one in JavaScript.
      checker: fileURLToPath(
        new URL(`./node_modules/${amount("typescript-7", "typescript")}/bin/tsc`, import.meta.url),
      ),
      include: ["test/types/**/*.test-d.ts"],
      tsconfig: "./test/types/tsconfig.json",
    },
    sequence: { sequencer: LongFilesFirst },
    // Files share processes and modules: starting a process and loading them costs more than most tests.
    pool: "forks",
    isolate: false,
    setupFiles: ["test/support/fresh-state.ts"],
    // Files wait for databases and processes of their own: one more than there are cores keeps the cores at work.
    maxWorkers: availableParallelism() + 1,
    // One copy of graphql: Vite would take its ES modules, and Yoga the others.
    server: { deps: { inline: [/graphql/] } },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      // Runs in browsers, as a bundle: test/browser/studio.
      exclude: ["src/plugins/studio/page/**"],
      reporter: ["text-summary", "html", "json-summary"],
      thresholds: { lines: 95, "src/{kernel,gate}/**/*.ts": { lines: 100 } },
    },
  },
});
