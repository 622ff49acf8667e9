// An app whose workflows run on DBOS, shared by dbos-engine.test.ts and the processes that it kills.
import {
  action,
  createEntityStep,
  EntityNotFoundError,
  entity,
  int,
  type Logger,
  noopLogger,
  postgres,
  type StepContext,
  step,
  string,
  text,
  updateEntityStep,
  withOptions,
  workflow,
  workflows,
} from "../../../src/index.ts";
import { dbosEngine } from "../../../src/plugins/workflows/dbos/index.ts";
import type { JournalOptions, WorkflowsOptions } from "../../../src/plugins/workflows/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

/** The instructions of a "place" run. */
export interface PlaceInput {
  readonly item: string;
  readonly card?: string;
  readonly fail?: "typed" | "untyped" | "late";
  /** The process dies inside this step. */
  readonly dieIn?: string;
}

const everybody = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const stock = entity("stock", { name: string, left: int.min(0) }).rules(everybody);
/** Calls to the external service. */
const call = entity("call", { run: string, what: string, key: string }).rules(everybody);

function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;); // until the signal aborts
}

async function ask(what: string, { driver, idempotencyKey, runId }: StepContext<PlaceInput>): Promise<void> {
  const now = new Date();
  await driver.create("call", {
    id: crypto.randomUUID(),
    run: runId,
    what,
    key: idempotencyKey,
    createdAt: now,
    updatedAt: now,
  });
}

function outside(name: string, isIdempotent: boolean) {
  return step<PlaceInput, { readonly by: string }>(
    name,
    async (context) => {
      const { input, runId } = context;
      await ask(name, context);
      if (input.dieIn === name && process.env.MAY_DIE === "yes") die();
      context.set(name, true);
      return { by: runId };
    },
    (context, result) => ask(`undo ${name} ${result === undefined ? "?" : result.by === context.runId}`, context),
    { idempotent: isIdempotent },
  );
}

const steps = [
  createEntityStep("order", ({ input }) => ({ item: (input as PlaceInput).item, card: (input as PlaceInput).card })),
  outside("charge", true),
  withOptions(
    updateEntityStep("stock", { id: "s" }, async ({ driver }) => {
      const before = (await driver.findOne("stock", { id: "s" }))?.left as number;
      return { left: before - 1 };
    }),
    { asSystem: true },
  ),
  outside("pack", false),
  step<PlaceInput>(
    "ship",
    async ({ input, results, get }) => {
      if (input.fail === "typed") throw new EntityNotFoundError("There is no such address");
      if (input.fail === "untyped") throw new TypeError("secret of the carrier");
      if (input.fail === "late") await new Promise(() => {});
      return { order: (results["create-order"] as { readonly id: string }).id, charged: get("charge") };
    },
    undefined,
    { timeout: 500, retry: { attempts: 2, delay: 1 } },
  ),
];

const order = entity("order", { item: string, card: text.optional().encrypted() })
  .rules(everybody)
  .actions({ place: action().rules("authenticated").input({ item: string, fail: string.optional() }).workflow(steps) });

/** The same as the action, for code. */
export const place = workflow<PlaceInput>("place").addStep(steps[0] as never);
export const placeAll = steps
  .slice(1)
  .reduce((builder, one) => builder.addStep(one as never), place)
  .build();

const KEY = "0f".repeat(32);

/** @param options `more`: additional workflows; `dbosUrl`: where DBOS keeps its tables, if not in the same database */
export function openApp(
  url: string,
  options: JournalOptions & {
    readonly logger?: Logger;
    readonly more?: WorkflowsOptions["workflows"];
    readonly dbosUrl?: string;
  } = {},
) {
  const { logger = noopLogger, more = [], dbosUrl = url, ...journal } = options;
  const engine = dbosEngine({ databaseUrl: dbosUrl, leaseMs: 1_500, recoveryMs: 200, ...journal });
  return createTestApp({
    entities: [stock, call, order],
    limits: { requestMs: 3_000 },
    driver: postgres(url),
    encryption: { key: KEY },
    logger,
    plugins: (defaults) =>
      defaults.replace("workflows", workflows({ engine, encrypted: true, workflows: [placeAll, ...more] })),
  });
}
