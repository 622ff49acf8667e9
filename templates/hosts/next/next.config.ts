import type { NextConfig } from "next";

const config: NextConfig = {
  // Loaded as they are: they bring WebAssembly and a native binding, which a bundler would take apart.
  serverExternalPackages: ["keelson", "@prisma/adapter-libsql", "@prisma/get-dmmf", "@prisma/schema-engine-wasm"],
};

export default config;
