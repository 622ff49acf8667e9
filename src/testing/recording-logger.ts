import type { Logger } from "../kernel/index.ts";

/** Makes a logger that records its lines: `level message {meta}`. */
export function recordingLogger(): Logger & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const at = (level: string) => (message: string, meta?: Readonly<Record<string, unknown>>) =>
    void lines.push(`${level} ${message}${meta === undefined ? "" : ` ${JSON.stringify(meta)}`}`);
  return Object.freeze({ debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), lines });
}
