import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

/** What Chromium must not do: ask its maker for anything, or keep anything. That pages are kept apart stays on. */
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

/** A browser without a window, and with a profile of its own. */
export async function launchBrowser(): Promise<Browser> {
  const { path, env } = await findChromium();
  return await chromium.launch({ executablePath: path, args: FLAGS, env: { ...process.env, ...env } });
}
