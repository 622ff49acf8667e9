import { defineConfig } from "tsup";

export default defineConfig({
  // One entry per subpath of `exports` in package.json.
  entry: {
    index: "src/index.ts",
    express: "src/adapters/express/index.ts",
    kernel: "src/kernel.ts",
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
  tsconfig: "tsconfig.build.json",
});
