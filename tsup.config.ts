import { defineConfig } from "tsup";
import compiledIn from "./scripts/compiled-in.json" with { type: "json" };
import { studioFiles } from "./scripts/studio-files.ts";
import { swaggerUiFiles } from "./scripts/swagger-ui-files.ts";
import { thirdPartyLicenses } from "./scripts/third-party-licenses.ts";

export default defineConfig({
  // One entry per subpath of `exports` in package.json.
  entry: {
    index: "src/index.ts",
    // The command: a program, not a subpath.
    cli: "src/cli/main.ts",
    audit: "src/plugins/audit/index.ts",
    "better-auth": "src/plugins/accounts/index.ts",
    client: "src/client/index.ts",
    dbos: "src/plugins/workflows/dbos/index.ts",
    driver: "src/driver.ts",
    express: "src/adapters/express/index.ts",
    hono: "src/adapters/hono/index.ts",
    idempotency: "src/plugins/idempotency/index.ts",
    jwt: "src/plugins/jwt-auth/index.ts",
    next: "src/adapters/next/index.ts",
    node: "src/adapters/node/index.ts",
    openapi: "src/plugins/openapi/index.ts",
    plugin: "src/plugin.ts",
    prisma: "src/drivers/prisma/index.ts",
    "react-query": "src/client/react-query/index.ts",
    "rate-limit": "src/plugins/rate-limit/index.ts",
    studio: "src/plugins/studio/index.ts",
    telemetry: "src/plugins/telemetry/index.ts",
    testing: "src/testing/index.ts",
  },
  format: ["esm"],
  target: "node20",
  platform: "node",
  // Shared chunks, so that two subpaths have one container and one set of error classes.
  splitting: true,
  sourcemap: true,
  dts: true,
  clean: true,
  // Only what is used of these libraries, and no files of theirs to load: docs/adr/0026-do-less-at-start-up.md
  noExternal: compiledIn,
  esbuildOptions(options) {
    // ES modules rather than CommonJS, so that unused parts can be left out.
    options.mainFields = ["module", "main"];
    // Less to read at each start; names stay, and source maps lead back.
    options.minifyWhitespace = true;
    options.minifySyntax = true;
  },
  esbuildPlugins: [swaggerUiFiles(), studioFiles(), thirdPartyLicenses()],
  tsconfig: "tsconfig.build.json",
});
