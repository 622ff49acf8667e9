import type { EngineHost } from "./workflow-engine.ts";

/** A closing app refuses calls, and with them whatever steps ask of services that make some. */
export function isClosing(host: EngineHost): Promise<boolean> {
  return host
    .runAs(null, async () => {})
    .then(
      () => false,
      () => true,
    );
}
