// Loaded into every server before the contender: reports what the process has used, so that a contender need not.
import type { Usage } from "./server-process.ts";

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() } satisfies Usage);
});

// A server must not outlive a runner that was interrupted.
process.on("disconnect", () => process.exit());
