import { describe, expectTypeOf, it } from "vitest";

describe("process.env", () => {
  // Next's own types say otherwise for a whole program; only the configurations of Next apps import them (tsconfig.json, `exclude`).
  it("may lack NODE_ENV, as in Node's types", () => {
    expectTypeOf<{ PORT: string }>().toExtend<NodeJS.ProcessEnv>();
  });
});
