// Loaded into every server before the contender: reports what the process has used, so that a contender need not.
import type { Usage } from "./server-process.ts";
import { createMemoryWatch } from "./watch-memory.ts";

const memory = createMemoryWatch();

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() };
}

process.on("message", (message) => {
  if (message === "watch") return void process.send?.(memory.begin());
  process.send?.(message === "watched" ? memory.end() : usage());
});

// A server must not outlive a runner that was interrupted.
process.on("disconnect", () => process.exit());
