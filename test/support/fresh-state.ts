import { afterAll, vi } from "vitest";

// Test files that share a process each start from fresh modules, and leave the process as they found it. What Node
// itself loaded (Prisma, zod, the database drivers) stays loaded: that is what sharing the process is for.

vi.resetModules();

const environment = { ...process.env };
const folder = process.cwd();
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const listeners = new Map(signals.map((signal) => [signal, process.listeners(signal)]));

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  for (const signal of signals)
    for (const listener of process.listeners(signal))
      if (listeners.get(signal)?.includes(listener) !== true) process.off(signal, listener);
  // OpenTelemetry keeps what was set up on the process, past any module.
  delete (globalThis as Record<symbol, unknown>)[Symbol.for("opentelemetry.js.api.1")];
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
