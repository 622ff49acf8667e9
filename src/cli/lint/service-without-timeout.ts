import type { LintRule } from "./finding.ts";

/** Services of remote relations that only the deadline of the whole join ends. */
export const serviceWithoutTimeout: LintRule = {
  id: "service-without-timeout",
  title: "Service without a timeout of its own",
  why: "While it hangs, every answer that joins it takes as long as the whole join may, and what would come after it is null.",
  fix: "Give httpService a `timeout` below that of remoteJoins. A service of your own ends its calls itself, and says after how many milliseconds in its member `timeout`.",
  level: "note",
  find: ({ services }) =>
    [...services].flatMap(([name, { timeout }]) =>
      isTimeout(timeout) ? [] : [{ at: name, what: "only the deadline of the whole join ends a call to this service" }],
    ),
};

function isTimeout(timeout: unknown): boolean {
  return typeof timeout === "number" && Number.isFinite(timeout) && timeout > 0;
}
