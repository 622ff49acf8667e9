import type { NextConfig } from "next";

const config: NextConfig = {
  // The package has files that it reads at run time, such as the engine of its database; bundles would not have them.
  serverExternalPackages: ["keelson"],
  // The types of the examples are checked with those of the repository.
  typescript: { ignoreBuildErrors: true },
};

export default config;
