import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Answer, Sent } from "./replay.ts";

export const CORPUS = fileURLToPath(new URL("requests.jsonl", import.meta.url));

/** Requests to an earlier version, with its responses. */
export async function readCorpus(): Promise<readonly (Sent & { readonly answer: Answer })[]> {
  const text = await readFile(CORPUS, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Sent & { readonly answer: Answer });
}
