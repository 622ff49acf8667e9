import { defineConfig } from "tsup";
import { swaggerUiFiles } from "./scripts/swagger-ui-files.ts";

export default defineConfig({
  // One entry per subpath of `exports` in package.json.
  entry: {
    index: "src/index.ts",
    // The command: a program, not a subpath.
    cli: "src/cli/main.ts",
    client: "src/client/index.ts",
    express: "src/adapters/express/index.ts",
    hono: "src/adapters/hono/index.ts",
    kernel: "src/kernel.ts",
    next: "src/adapters/next/index.ts",
    node: "src/adapters/node/index.ts",
    prisma: "src/drivers/prisma/index.ts",
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
  esbuildPlugins: [swaggerUiFiles()],
  tsconfig: "tsconfig.build.json",
});
