import {
  action,
  bulkUpdateAction,
  createEntityStep,
  createPlugin,
  type Driver,
  entity,
  importAction,
  int,
  keelson,
  noopLogger,
  type StepContext,
  string,
  updateEntityStep,
  workflow,
  workflows,
} from "../../../src/index.ts";
import type { Operation } from "../../../src/plugin.ts";
import { audit } from "../../../src/plugins/audit/index.ts";

/** Called in the middle of the work, which waits for the returned promise. */
export type Brake = (where: "bulk" | "import" | "workflow") => Promise<void> | undefined;

const OPEN = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };

/**
 * Items with long-running work, each change with an audit entry. The brake is called after the fifth record of a bulk
 * request, in the third batch of an import, and between two steps of a workflow.
 */
export function stockApp(driver: Driver, brake: Brake = () => undefined) {
  const restock = workflow("restock")
    .addStep(createEntityStep("order", "item", { text: "ordered" }))
    .step(
      "wait",
      async () => {
        await brake("workflow");
        return { waited: true };
      },
      undefined,
      { idempotent: true }, // otherwise its outcome would be unknown after a crash, and the run would be compensated
    )
    .addStep(
      updateEntityStep(
        "arrive",
        "item",
        ({ results }: StepContext<never>) => ({ id: (results.order as { id: string }).id }),
        { size: 5 },
      ),
    )
    .build();
  const item = entity("item", { text: string, size: int.default(0) })
    .rules(OPEN)
    .actions({
      bulkUpdate: bulkUpdateAction(),
      import: importAction({ batch: 10 }),
      restock: action().rules("everyone").workflow(restock),
    });
  const seen = { bulk: 0, import: 0 };
  const brakes = createPlugin({
    id: "brakes",
    setup: ({ hooks }) =>
      hooks.on(
        "operation:execute",
        ({ scope, kind }: Operation) => {
          const doing = scope.exchange?.route?.action;
          if (kind === "update" && doing === "bulkUpdate" && ++seen.bulk === 5) return brake("bulk");
          if (kind === "create" && doing === "import" && ++seen.import === 25) return brake("import");
          return undefined;
        },
        { timeout: 0 },
      ),
  });
  return keelson({
    entities: [item],
    driver,
    logger: noopLogger,
    plugins: (defaults) =>
      defaults.replace("workflows", workflows({ journal: { leaseMs: 2_000, recoveryMs: 300 } })).with(audit(), brakes),
  });
}
