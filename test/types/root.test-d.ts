import type * as root from "keelson";
import { describe, expectTypeOf, it } from "vitest";

/** Types that users write in their code; a missing name does not compile. */
type Written = [
  root.$Infer<root.Keelson>,
  root.InferEntityData<root.AnyEntity>,
  root.InferCreateInput<root.AnyEntity>,
  root.InferUpdateInput<root.AnyEntity>,
  root.KeelsonConfig,
  root.InferWhere<root.AnyEntity>,
  root.InferRecord<root.AnyEntity>,
  root.Driver,
  root.Logger,
  root.Rule,
];

describe("the root of the package", () => {
  it("exports the types that users write in their code", () => {
    expectTypeOf<Written[4]["logger"]>().toEqualTypeOf<root.Logger | undefined>();
    expectTypeOf<Written>().not.toBeAny();
  });
});
