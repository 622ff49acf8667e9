import type { NextConfig } from "next";

const config: NextConfig = {
  // Loaded as they are: they bring WebAssembly and a native binding, which a bundler would take apart.
  serverExternalPackages: [
    "keelson",
    "better-auth",
    "@prisma/adapter-libsql",
    "@prisma/get-dmmf",
    "@prisma/schema-engine-wasm",
  ],
  // What plugins serve is where `keelson routes` says; all of it is answered by app/api.
  rewrites: async () => [
    { source: "/:root(docs|openapi\\.json|health|auth)/:path*", destination: "/api/:root/:path*" },
  ],
};

export default config;
