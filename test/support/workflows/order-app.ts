import {
  createEntityStep,
  type Driver,
  deleteEntityStep,
  entity,
  int,
  type Keelson,
  keelson,
  noopLogger,
  type StepContext,
  string,
  updateEntityStep,
  type WorkflowDefinition,
  type WorkflowEngine,
  workflow,
  workflows,
} from "../../../src/index.ts";
import type { Clock } from "../../../src/kernel/index.ts";

// A workflow with observable steps: entity steps change records; the others record each call, and have an external effect
// once per idempotency key, like a service that supports such keys.

const item = entity("item", { runId: string });
const counter = entity("counter", { value: int });
const marker = entity("marker", { name: string });
const call = entity("call", { runId: string, step: string, phase: string, key: string, pid: int });
const effect = entity("effect", { runId: string, step: string, phase: string });
const ENTITIES = [item, counter, marker, call, effect] as const;

/** The input of an order. */
export interface OrderInput {
  /** The step that fails. @default no step */
  readonly fail?: string | undefined;
}

/** Points inside a step's code, in addition to the engine's points. */
export type Inside = (phase: "execute" | "compensate", step: string, runId: string) => Promise<void>;

type Context = StepContext<OrderInput>;

/** Steps that store only their traces. */
function traced(name: string, inside: Inside) {
  const leave =
    (phase: "execute" | "compensate") =>
    async ({ driver, runId, idempotencyKey: key, input }: Context): Promise<string> => {
      const now = new Date();
      const times = { createdAt: now, updatedAt: now };
      const id = crypto.randomUUID();
      await driver.create("call", { id, runId, step: name, phase, key, pid: process.pid, ...times });
      if (phase === "execute" && input.fail === name) throw new TypeError(`${name} fails`);
      if ((await driver.findOne("effect", { id: key })) === null)
        await driver.create("effect", { id: key, runId, step: name, phase, ...times });
      await inside(phase, name, runId);
      return `${name} of ${runId}`;
    };
  return { name, execute: leave("execute"), compensate: leave("compensate") };
}

function orderSteps(inside: Inside) {
  const reach = async (name: string, { runId, input }: Context): Promise<void> => {
    await inside("execute", name, runId);
    if (input.fail === name) throw new TypeError(`${name} fails`);
  };
  return [
    createEntityStep("create", item, async (context: Context) => {
      await reach("create", context);
      return { runId: context.runId };
    }),
    traced("charge", inside),
    updateEntityStep(
      "count",
      counter,
      ({ runId }: Context) => ({ id: runId }),
      async (context: Context) => {
        const { value } = (await context.driver.findOne("counter", { id: context.runId })) as { value?: number };
        await reach("count", context);
        return { value: (value as number) + 1 };
      },
    ),
    { ...traced("notify", inside), idempotent: true },
    deleteEntityStep("remove", marker, async (context: Context) => {
      await reach("remove", context);
      return { id: context.runId };
    }),
    traced("ship", inside),
  ];
}

/** The parts of an order app. */
export interface OrderApp {
  readonly api: Keelson<typeof ENTITIES>;
  readonly order: WorkflowDefinition;
  /** Creates the records that a run works on. */
  prepare(runId: string): Promise<void>;
}

export interface OrderParts {
  readonly driver: Driver;
  readonly engine: WorkflowEngine;
  readonly clock?: Clock | undefined;
  readonly inside?: Inside | undefined;
}

/** The app whose processes die in the tests. */
export function orderApp({ driver, engine, clock, inside = async () => {} }: OrderParts): OrderApp {
  const order = orderSteps(inside)
    .reduce((builder, made) => builder.addStep(made as never), workflow<OrderInput>("order"))
    .build();
  const api = keelson({
    entities: ENTITIES,
    driver,
    logger: noopLogger,
    ...(clock === undefined ? {} : { clock }),
    plugins: (defaults) => defaults.replace("workflows", workflows({ workflows: [order], engine })),
  });
  return {
    api,
    order,
    async prepare(runId) {
      const system = api.asSystem();
      const isThere = async (name: string): Promise<boolean> =>
        (await api.driver.findOne(name, { id: runId })) !== null;
      if (!(await isThere("marker"))) await system.marker.create({ id: runId, name: runId });
      if (!(await isThere("counter"))) await system.counter.create({ id: runId, value: 0 });
    },
  };
}
