import { describe, expect, it } from "vitest";
import { costOfEntities } from "../support/count-instantiations.ts";

/** Measured: about 267,000. Raise it only for types that are worth what they cost; `npm run bench:types` shows the figures. */
const LIMIT = 270_000;
/** The same with a client over HTTP that lists and creates records of each: about 472,000. */
const LIMIT_WITH_CLIENT = 480_000;

describe("types", () => {
  it("of 100 entities cost no more instantiations than they may, and twice those of 50", { timeout: 300_000 }, () => {
    const fifty = costOfEntities(50);
    const hundred = costOfEntities(100);
    expect(hundred).toBeGreaterThan(0);
    expect(hundred).toBeLessThan(LIMIT);
    expect(hundred / fifty).toBeLessThan(2.2);
  });

  it("of a client of 100 entities cost no more than they may", { timeout: 300_000 }, () => {
    const instantiations = costOfEntities(100, { client: true });
    expect(instantiations).toBeGreaterThan(0);
    expect(instantiations).toBeLessThan(LIMIT_WITH_CLIENT);
  });
});
