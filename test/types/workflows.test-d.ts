import { describe, expectTypeOf, it } from "vitest";
import type { EntityClient } from "../../src/gate/index.ts";
import {
  action,
  createEntityStep,
  type Driver,
  deleteEntityStep,
  entity,
  executeWorkflow,
  runWorkflow,
  type Step,
  type StepContext,
  step,
  string,
  type User,
  updateEntityStep,
  type WorkflowBuilder,
  type WorkflowDefinition,
  type WorkflowResult,
  withOptions,
  workflow,
} from "../../src/index.ts";
import type { RetryOptions, WorkflowLike, WorkflowStatus } from "../../src/plugins/workflows/index.ts";

interface Order {
  readonly card: string;
}
const note = entity("note", { text: string });
declare const driver: Driver;

describe("a step", () => {
  it("passes its result to its compensation", () => {
    step(
      "charge",
      async () => ({ id: 1 }),
      (_, result) => expectTypeOf(result).toEqualTypeOf<{ id: number }>(),
    );
    const made = step("count", () => 5);
    expectTypeOf(made).toEqualTypeOf<Step<unknown, number>>();
    step("options", () => 1, undefined, { retry: { attempts: 2 }, timeout: 5, idempotent: true, asSystem: true });
    // @ts-expect-error there is no such option
    step("options", () => 1, undefined, { retries: 2 });
    expectTypeOf<RetryOptions["attempts"]>().toEqualTypeOf<number | undefined>();
  });

  it("receives the members of the run", () => {
    step("look", (context) => {
      expectTypeOf(context.input).toEqualTypeOf<unknown>();
      expectTypeOf(context.data).toEqualTypeOf<Readonly<Record<string, unknown>>>();
      expectTypeOf(context.get("a")).toEqualTypeOf<unknown>();
      expectTypeOf(context.get<number>("a")).toEqualTypeOf<number | undefined>();
      expectTypeOf(context.user).toEqualTypeOf<User | null>();
      expectTypeOf(context.driver).toEqualTypeOf<Driver>();
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(context.client(note)).toEqualTypeOf<EntityClient<typeof note>>();
      // @ts-expect-error data is changed with set
      context.data.a = 1;
    });
  });
});

describe("a workflow", () => {
  it("may have a typed input", () => {
    const builder = workflow<Order>("order").step("charge", ({ input }) => {
      expectTypeOf(input).toEqualTypeOf<Order>();
    });
    expectTypeOf(builder).toEqualTypeOf<WorkflowBuilder<Order>>();
    expectTypeOf(builder.build()).toEqualTypeOf<WorkflowDefinition<Order>>();
    expectTypeOf(workflow([step("one", () => 1)])).toEqualTypeOf<WorkflowDefinition>();
    expectTypeOf(builder).toExtend<WorkflowLike>();
    expectTypeOf(workflow("any")).toExtend<WorkflowLike>();
  });

  it("accepts entity steps and plain objects, for any input type", () => {
    const built = workflow<Order>("order")
      .addStep(createEntityStep("note", ({ input }: StepContext<Order>) => ({ text: input.card })))
      .addStep(withOptions(updateEntityStep("mine", note, { id: "1" }, { text: "x" }), { asSystem: true }))
      .addStep(deleteEntityStep(note, ({ results }) => ({ id: String(results.mine) })))
      .addStep({ name: "run", run: ({ input }: StepContext<Order>) => input.card, compensate: (_, result) => result })
      .addStep({ name: "execute", execute: () => 1 });
    void executeWorkflow(built);
    // @ts-expect-error neither run nor execute
    workflow("w").addStep({ name: "nothing" });
  });
});

describe("running a workflow", () => {
  it("returns a result, for every form", () => {
    const like: WorkflowLike = [step("one", () => 1)];
    expectTypeOf(executeWorkflow(like, { driver, input: 1 })).resolves.toEqualTypeOf<WorkflowResult>();
    expectTypeOf(executeWorkflow(driver, workflow("w"))).resolves.toEqualTypeOf<WorkflowResult>();
    expectTypeOf(runWorkflow(like, { user: { id: "ann" } })).resolves.toEqualTypeOf<WorkflowResult>();
    expectTypeOf<WorkflowResult["error"]>().toEqualTypeOf<Error | undefined>();
    expectTypeOf<WorkflowResult["status"]>().toEqualTypeOf<WorkflowStatus>();
    expectTypeOf<WorkflowResult["metadata"]["startedAt"]>().toEqualTypeOf<Date>();
  });

  it("accepts the context of a handler", () => {
    action()
      .input({ text: string })
      .handler((context) => runWorkflow([step("one", () => 1)], context));
  });

  it("is possible in an action, with steps, a workflow or its builder", () => {
    const one = step("one", () => 1);
    action().workflow([one]);
    action().workflow(workflow([one]));
    action().workflow(workflow<Order>("order").addStep(one), { timeout: 5 });
    // @ts-expect-error no steps
    action().workflow("order");
  });
});

describe("an action with an input", () => {
  const monthly = action().input({ month: string });
  const ofOrg = workflow<{ orgId: string }>("org").step("s", ({ input }) => input.orgId);
  const ofMonth = workflow<{ month: string }>("month").step("s", ({ input }) => input.month);
  it("accepts a workflow with this input, and one without a particular input", () => {
    monthly.workflow(ofMonth);
    monthly.workflow(ofMonth.build());
    monthly.workflow(workflow("any").step("s", () => 1));
    monthly.workflow([step("s", () => 1)]);
    action().workflow(ofOrg); // the body can be any value
  });

  it("refuses a workflow with another input", () => {
    // @ts-expect-error the action has no orgId
    monthly.workflow(ofOrg);
    // @ts-expect-error the action has no orgId
    monthly.workflow(ofOrg.build());
  });
});
