import { describe, expect, it } from "vitest";
import { findingsOfCost, iterationsOf } from "../../../../src/plugins/field-security/password/password-cost.ts";

describe("the cost of a password field", () => {
  it.each([
    [8, 256_000],
    [10, 1_024_000],
    [12, 4_096_000],
    [14, 16_384_000],
  ])("of %i means %i iterations", (cost, iterations) => {
    expect(iterationsOf(cost)).toBe(iterations);
  });

  it.each([0, 15, 64, -1, 10.5, "10", Number.NaN, Number.POSITIVE_INFINITY, null])("cannot be %j", (cost) => {
    for (const production of [true, false])
      expect(findingsOfCost("user.password", cost, production)).toEqual({
        problems: ["user.password: .password({ cost }) takes a whole number from 1 to 14; 10 is usual"],
        warnings: [],
      });
  });

  it.each([1, 2, 7])("of %i is a warning in development and a problem in production", (cost) => {
    const sentence = `user.password: .password({ cost: ${cost} }) is too cheap to protect anybody; production needs 8 or more`;
    expect(findingsOfCost("user.password", cost, false)).toEqual({ problems: [], warnings: [sentence] });
    expect(findingsOfCost("user.password", cost, true)).toEqual({ problems: [sentence], warnings: [] });
  });

  it.each([8, 9, 10, 11])("of %i causes no warning", (cost) => {
    for (const production of [true, false])
      expect(findingsOfCost("user.password", cost, production)).toEqual({ problems: [], warnings: [] });
  });

  it.each([
    [12, "1.6"],
    [13, "3.2"],
    [14, "6.4"],
  ])("of %i is a warning that a login takes %s s", (cost, seconds) => {
    for (const production of [true, false])
      expect(findingsOfCost("user.password", cost, production)).toEqual({
        problems: [],
        warnings: [`user.password: .password({ cost: ${cost} }) takes a processor about ${seconds} s for every login`],
      });
  });
});
