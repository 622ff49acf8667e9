import { describe, expect, it } from "vitest";
import { costOfEntities } from "../support/count-instantiations.ts";
import { amount } from "../support/suite.ts";

const COUNT = amount(50, 100);
/**
 * Measured: about 141,600 for 50 entities, and 267,000 for 100. Raise it only for types that are worth the cost; `npm run
 * types --prefix bench` shows the figures.
 */
const LIMIT = amount(143_000, 270_000);
/** The same with an HTTP client that lists and creates records of each: about 245,200 for 50 entities, and 472,000 for 100. */
const LIMIT_WITH_CLIENT = amount(249_000, 480_000);

describe("types", () => {
  it(`of ${COUNT} entities stay within the limit, and grow linearly`, {
    timeout: 300_000,
  }, () => {
    const half = costOfEntities(COUNT / 2);
    const all = costOfEntities(COUNT);
    expect(all).toBeGreaterThan(0);
    expect(all).toBeLessThan(LIMIT);
    expect(all / half).toBeLessThan(2.2);
  });

  it(`of a client of ${COUNT} entities stay within the limit`, { timeout: 300_000 }, () => {
    const instantiations = costOfEntities(COUNT, { client: true });
    expect(instantiations).toBeGreaterThan(0);
    expect(instantiations).toBeLessThan(LIMIT_WITH_CLIENT);
  });
});
