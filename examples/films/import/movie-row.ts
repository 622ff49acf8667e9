import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/** One unchanged row of the data set: its values can have any type. */
export type MovieRow = Readonly<Record<string, unknown>>;

export const SOURCE = "vega-datasets/data/movies.json";

/** The rows of the npm package `vega-datasets` (BSD-3-Clause), read by path because its `exports` omit the file. */
export async function readMovies(): Promise<readonly MovieRow[]> {
  const entry = pathToFileURL(require.resolve("vega-datasets"));
  return JSON.parse(await readFile(new URL("../data/movies.json", entry), "utf8"));
}
