import { describe, expect, it } from "vitest";
import { ALL_DATABASES } from "../support/sql-databases.ts";
import { oneOf } from "../support/suite.ts";
import { readCorpus } from "./corpus.ts";
import { replay } from "./replay.ts";

const corpus = await readCorpus();

describe("recorded requests get their recorded responses", () => {
  it.each(oneOf(1, ALL_DATABASES))("on %s", async (_, open) => {
    const answers = await replay(corpus, open);
    const differing = corpus.flatMap(({ answer, ...request }, index) => {
      const now = answers[index];
      return JSON.stringify(now) === JSON.stringify(answer) ? [] : [{ index, ...request, answer, now }];
    });
    expect(differing.slice(0, 10)).toEqual([]);
  });
});
