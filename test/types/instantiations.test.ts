import { describe, expect, it } from "vitest";
import { costOfEntities, measureTypes } from "../../bench/types/measure-types.ts";

/** Measured: about 211,000. Raise it only for types that are worth what they cost; `npm run bench:types` shows the figures. */
const LIMIT = 240_000;
/** The same with a client over HTTP that lists and creates records of each: about 422,000. */
const LIMIT_WITH_CLIENT = 460_000;

describe("types", () => {
  it("of 100 entities cost no more instantiations than they may, and twice those of 50", { timeout: 300_000 }, () => {
    const empty = measureTypes(0);
    const fifty = costOfEntities(50, empty).instantiations;
    const hundred = costOfEntities(100, empty).instantiations;
    expect(hundred).toBeGreaterThan(0);
    expect(hundred).toBeLessThan(LIMIT);
    expect(hundred / fifty).toBeLessThan(2.2);
  });

  it("of a client of 100 entities cost no more than they may", { timeout: 300_000 }, () => {
    const client = { client: true };
    const { instantiations } = costOfEntities(100, measureTypes(0, client), client);
    expect(instantiations).toBeGreaterThan(0);
    expect(instantiations).toBeLessThan(LIMIT_WITH_CLIENT);
  });
});
