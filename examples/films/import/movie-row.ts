import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/** One row of the data set, as it is: nothing about its values is certain. */
export type MovieRow = Readonly<Record<string, unknown>>;

export const SOURCE = "vega-datasets/data/movies.json";

/** The rows of the npm package `vega-datasets` (BSD-3-Clause). Its `exports` hide the file, not its place. */
export async function readMovies(): Promise<readonly MovieRow[]> {
  const entry = pathToFileURL(require.resolve("vega-datasets"));
  return JSON.parse(await readFile(new URL("../data/movies.json", entry), "utf8"));
}
