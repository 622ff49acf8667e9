import type { NextConfig } from "next";

const config: NextConfig = { serverExternalPackages: ["keelson"], typescript: { ignoreBuildErrors: true } };

export default config;
