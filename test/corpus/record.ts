/** `npm run corpus`: records the current version's responses; the test of this folder compares with them. */
import { writeFile } from "node:fs/promises";
import { memoryDriver } from "../../src/index.ts";
import { CORPUS } from "./corpus.ts";
import { hostOf, replay } from "./replay.ts";
import { makeRequests } from "./requests.ts";

const requests = makeRequests().map(({ bytes, isHead }, index) => ({
  host: hostOf(index),
  bytes: bytes.toString("latin1"),
  isHead,
}));
const answers = await replay(requests, async () => ({ driver: memoryDriver(), drop: async () => {} }));
const lines = requests.map((request, index) => JSON.stringify({ ...request, answer: answers[index] }));
await writeFile(CORPUS, `${lines.join("\n")}\n`);
const counts = new Map<number, number>();
for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
console.log(`${lines.length} requests; ${[...counts].map(([status, all]) => `${status}: ${all}`).join(", ")}`);
