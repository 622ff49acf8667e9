import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

/** Chromium must not contact its vendor or store anything. Site isolation stays on. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-proxy-server",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A headless browser with a new profile. */
export async function launchBrowser(...more: readonly string[]): Promise<Browser> {
  const { path, env } = await findChromium();
  return await chromium.launch({ executablePath: path, args: [...FLAGS, ...more], env: { ...process.env, ...env } });
}
