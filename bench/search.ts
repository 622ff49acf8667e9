// How long searches take: `q=` over many titles on PostgreSQL, through the whole API in this process.
import { readdirSync, readFileSync } from "node:fs";
import { wordsOf } from "../src/entity/index.ts";
import { entity, keelson, noopLogger, postgres, string } from "../src/index.ts";
import { dropDatabase, freshDatabase } from "./database.ts";

const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const SEARCHES = Number(process.env.BENCH_SEARCHES ?? 200);
const PORTION = 5_000;
const LENGTH = 8;
const DATABASE = "keelson_bench_search";

const article = entity("article", { title: string.searchable() }).rules({ read: ["everyone"] });

/** Pseudo-random numbers from 0 to 1, the same in each run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = numbersFrom(7);
const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] as string;
/** The words of the documentation, once per page, in their order; then each of them once. */
const text = readdirSync("docs", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md") && !file.startsWith("reference/api"))
  .flatMap((file) => wordsOf(readFileSync(`docs/${file}`, "utf8")));
const vocabulary = [...new Set(text)];

function wordsOfTitle(): string[] {
  const start = Math.floor(random() * (text.length - LENGTH));
  return text.slice(start, start + LENGTH);
}

/** A record as the tables keep it: the driver of an app stores no words by itself. */
function rowOf(index: number): Record<string, unknown> {
  const words = wordsOfTitle();
  const at = new Date();
  const titleWords = ` ${[...new Set(words)].join(" ")} `;
  return { id: `a${index}`, title: words.join(" "), titleWords, createdAt: at, updatedAt: at };
}

const SHAPES: Readonly<Record<string, () => string>> = {
  "a word": () => pick(vocabulary),
  "the first four letters of a word": () => pick(vocabulary).slice(0, 4),
  "two words of a title": () => wordsOfTitle().slice(0, 2).join(" "),
};

const quantile = (sorted: readonly number[], share: number): string =>
  (sorted[Math.floor((sorted.length - 1) * share)] as number).toFixed(1);

const api = keelson({ entities: [article], driver: postgres(await freshDatabase(DATABASE)), logger: noopLogger });
await api.ready;
for (let stored = 0; stored < ROWS; stored += PORTION)
  await api.driver.createMany(
    "article",
    Array.from({ length: PORTION }, (_, place) => rowOf(stored + place)),
  );

console.log(
  `${ROWS} titles of ${LENGTH} words, of a vocabulary of ${vocabulary.length}; 20 hits per page, by rank, without a total\n`,
);
console.log("| search | p50, ms | p95, ms | longest, ms |\n|---|---:|---:|---:|");
for (const [name, search] of Object.entries(SHAPES)) {
  const times: number[] = [];
  for (let turn = -20; turn < SEARCHES; turn++) {
    const url = `http://localhost/api/articles?q=${encodeURIComponent(search())}&_limit=20&_total=none`;
    const begin = performance.now();
    const response = await api.fetch(new Request(url));
    await response.text();
    if (!response.ok) throw new Error(`${response.status} for ${url}`);
    if (turn >= 0) times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log(`| ${name} | ${quantile(times, 0.5)} | ${quantile(times, 0.95)} | ${quantile(times, 1)} |`);
}
await api.close();
await dropDatabase(DATABASE);
