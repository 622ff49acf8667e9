import { describe, expect, it } from "vitest";
import { embedded, memoryDriver, postgres } from "../../src/index.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { oneOf } from "../support/suite.ts";
import { readCorpus } from "./corpus.ts";
import { replay } from "./replay.ts";

const corpus = await readCorpus();

const DATABASES = {
  memory: async () => ({ driver: memoryDriver(), drop: async () => {} }),
  async SQLite() {
    const { file, remove } = await freshSqliteFile();
    return { driver: embedded({ file }), drop: remove };
  },
  async PostgreSQL() {
    const { url, drop } = await freshPostgres();
    return { driver: postgres(url), drop };
  },
} as const;

describe("requests that were recorded are answered as they were", () => {
  it.each(oneOf(1, ["memory", "SQLite", "PostgreSQL"] as const))("on %s", async (name) => {
    const answers = await replay(corpus, DATABASES[name]);
    const differing = corpus.flatMap(({ answer, ...request }, index) => {
      const now = answers[index];
      return JSON.stringify(now) === JSON.stringify(answer) ? [] : [{ index, ...request, answer, now }];
    });
    expect(differing.slice(0, 10)).toEqual([]);
  });
});
