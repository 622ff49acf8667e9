import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import type { ConfigurationError } from "../../src/entity/index.ts";
import { createApp } from "../../src/gate/index.ts";
import { DEFAULT_LIMITS, noopLogger } from "../../src/kernel/index.ts";

function boot(limits: object) {
  return createApp({ entities: [], driver: memoryDriver(), plugins: [], logger: noopLogger, limits });
}

function problemsOf(limits: object): readonly string[] {
  try {
    boot(limits);
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe("limits", () => {
  it("keep their default if they are undefined", async () => {
    const kernel = boot({ pageSize: undefined, hookMs: 7 });
    expect(kernel.limits).toEqual({ ...DEFAULT_LIMITS, hookMs: 7 });
    await kernel.close();
  });

  it.each([Number.NaN, -1, 1.5, "100", null, Number.POSITIVE_INFINITY])("refuse %j at start-up", (value) => {
    expect(problemsOf({ bodyBytes: value })).toEqual(["limits.bodyBytes must be a whole number, 0 or more"]);
  });

  it("refuse unknown names, all in one report", () => {
    expect(problemsOf({ bodyByte: 5, toString: 5, sortKeys: -1 })).toEqual([
      'limits.bodyByte does not exist. Did you mean "bodyBytes"?',
      "limits.toString does not exist.",
      "limits.sortKeys must be a whole number, 0 or more",
    ]);
  });
});
