import type { NextConfig } from "next";

const config: NextConfig = {
  // The package reads files of its own at run time, such as its database engine; bundles would not contain them.
  serverExternalPackages: ["keelson"],
  // The repository's own type check covers the examples.
  typescript: { ignoreBuildErrors: true },
};

export default config;
