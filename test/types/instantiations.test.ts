import { describe, expect, it } from "vitest";
import { costOfEntities, measureTypes } from "../../bench/types/measure-types.ts";

/** Measured: about 211,000. Raise it only for types that are worth what they cost; `npm run bench:types` shows the figures. */
const LIMIT = 240_000;

describe("types", () => {
  it("of 100 entities cost no more instantiations than they may, and twice those of 50", { timeout: 300_000 }, () => {
    const empty = measureTypes(0);
    const fifty = costOfEntities(50, empty).instantiations;
    const hundred = costOfEntities(100, empty).instantiations;
    expect(hundred).toBeGreaterThan(0);
    expect(hundred).toBeLessThan(LIMIT);
    expect(hundred / fifty).toBeLessThan(2.2);
  });
});
