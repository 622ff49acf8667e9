import { afterAll, vi } from "vitest";

// Test files that share a process each start with fresh modules, and restore the process's state. Modules that Node
// itself loaded (Prisma, zod, the database drivers) stay loaded, which is the reason for sharing a process.

//vi.resetModules();

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
  // OpenTelemetry keeps its set-up on the process, outside of modules.
  delete (globalThis as Record<symbol, unknown>)[Symbol.for("opentelemetry.js.api.1")];
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
