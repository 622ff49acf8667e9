import type * as root from "keelson";
import { describe, expectTypeOf, it } from "vitest";

/** Types that users write down; a name that is missing does not compile. */
type Written = [
  root.$Infer<root.Keelson>,
  root.InferEntityData<root.AnyEntity>,
  root.InferCreateInput<root.AnyEntity>,
  root.InferUpdateInput<root.AnyEntity>,
  root.KeelsonConfig,
  root.ServeOptions,
  root.Served,
  root.ExpressAdapterOptions,
  root.Seed,
  root.ErrorReplyOptions,
  root.ListOptions,
  root.InferWhere<root.AnyEntity>,
  root.InferRecord<root.AnyEntity>,
  root.ListQuery,
  root.PluginContext,
  root.Driver,
  root.Logger,
  root.Clock,
  root.IdGenerator,
  root.Rule,
];

describe("the root of the package", () => {
  it("exports the types that users write down", () => {
    expectTypeOf<Written[4]["clock"]>().toEqualTypeOf<root.Clock | undefined>();
    expectTypeOf<Written>().not.toBeAny();
  });
});
