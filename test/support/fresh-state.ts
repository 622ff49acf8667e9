import { afterAll, vi } from "vitest";
import { defaultRing } from "../../src/plugins/field-security/encryption/key-ring.ts";
import { endFile } from "./when-file-ends.ts";

// Test files share a process and its modules, because loading them costs more than most tests. Each file restores the
// process's state.

const environment = { ...process.env };
const folder = process.cwd();
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const listeners = new Map(signals.map((signal) => [signal, process.listeners(signal)]));

afterAll(async () => {
  await endFile();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  for (const signal of signals)
    for (const listener of process.listeners(signal))
      if (listeners.get(signal)?.includes(listener) !== true) process.off(signal, listener);
  // The keys of `initEncryption` belong to the process.
  defaultRing.clear();
  // OpenTelemetry keeps its set-up on the process, outside of modules.
  delete (globalThis as Record<symbol, unknown>)[Symbol.for("opentelemetry.js.api.1")];
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
