// The server of the soak test, with every fault that soak.test.ts must find.

import { openSync } from "node:fs";
import { createPlugin } from "keelson";
import type { Operation } from "keelson/plugin";
import { serveSoak } from "../../../bench/soak/serve-soak.ts";

/** True once in every n calls. */
function every(count: number): () => boolean {
  let calls = 0;
  return () => ++calls % count === 0;
}

const kept: unknown[] = [];
const [leavesOpen, fails, loses] = [every(20), every(40), every(10)];

const faults = createPlugin({
  id: "faults",
  setup({ driver, hooks }) {
    hooks.on("request:start", () => {
      kept.push(Array.from({ length: 4_000 }, () => Math.random()));
      if (leavesOpen()) openSync("/dev/null", "r");
    });
    hooks.on("operation:execute", ({ kind }: Operation) => {
      if (kind === "list" && fails()) throw new TypeError("a defect");
    });
    // Acknowledged, then lost.
    hooks.on("operation:committed", async ({ kind, records: [record] }: Operation) => {
      if (kind === "create" && loses()) await driver.delete("note", { id: record?.id as string });
    });
  },
});

await serveSoak([faults]);
