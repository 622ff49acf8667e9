/** The actions of a model's entities: prebuilt actions, and actions through which a step's calls enter. */
import type { ActionContext, AnyEntity, Rule, Step as WorkflowStep } from "keelson";
import { library as k } from "./library.ts";
import type { EntityModel, RuleModel } from "./model.ts";
import { reportAction } from "./report-action.ts";
import { type HandlerCall, runCall } from "./run-call.ts";

/** The work that a handler does for a step that enters through an action. */
type Within = Pick<ActionContext, "client" | "driver" | "user" | "input" | "transaction">;

/** The actions of an entity: prebuilt actions, and actions through which steps enter. */
export function actionsOf(
  model: EntityModel,
  self: () => AnyEntity,
  ruleOf: (rule: RuleModel) => Rule | string,
): Record<string, unknown> {
  const prebuilt: Record<string, unknown> = {
    softDelete: k.softDeleteAction,
    restore: k.restoreAction,
    archive: k.archiveAction,
    unarchive: k.unarchiveAction,
    toggle: k.toggleAction("flag"),
    clone: k.cloneAction,
    bulkUpdate: k.bulkUpdateAction,
    bulkDelete: k.bulkDeleteAction,
    count: k.countAction,
    exists: k.existsAction,
    export: k.exportAction,
    import: k.importAction,
  };
  const attached = Object.fromEntries(model.actions.map((name) => [name, prebuilt[name]]));
  const open = () => k.action().rules("everyone");
  const workflow = (last: WorkflowStep) => open().workflow([last] as never);
  const { name } = model;
  return {
    ...attached,
    ...(model.report && { report: reportAction(model.report, ruleOf) }),
    handled: open().handler(async (context: Within) => {
      const call = context.input as HandlerCall;
      return { result: (await runCall(context.client(self()) as never, call)) ?? null };
    }),
    seed: open().handler(async ({ driver, input }: Within) => {
      const { rows, later } = input as { rows: Record<string, unknown>[]; later: [string, Record<string, unknown>][] };
      if (rows.length > 0) await driver.createMany(self(), rows.map(withMoments));
      for (const [id, data] of later) await driver.update(self(), { id }, data);
      return {};
    }),
    stepped: open().handler(async (context: Within) => {
      const result = await k.executeWorkflow(stepsFor(self(), context.input as HandlerCall), context as never);
      return { status: statusOfRun(result) };
    }),
    stepCreate: workflow(k.createEntityStep("last", name, inputOf("data") as never)),
    stepUpdate: workflow(k.updateEntityStep("last", name, inputOf("where") as never, inputOf("data") as never)),
    stepDelete: workflow(k.deleteEntityStep("last", name, inputOf("where") as never)),
  };
}

const inputOf = (name: string) => (context: { input: unknown }) => (context.input as Record<string, unknown>)[name];
const withMoments = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      (name === "at" || name === "deletedAt") && typeof value === "string" ? new Date(value) : value,
    ]),
  );

/** A workflow of one entity step. */
export function stepsFor(entity: AnyEntity, call: HandlerCall): WorkflowStep[] {
  const { do: kind, where = {}, data = {} } = call;
  if (kind === "create") return [k.createEntityStep("last", entity, data as never)];
  if (kind === "update") return [k.updateEntityStep("last", entity, where, data as never)];
  return [k.deleteEntityStep("last", entity, where)];
}

/** The status that an app would respond with. */
export function statusOfRun(result: { readonly success: boolean; readonly error?: unknown }): number {
  return result.success ? 200 : ((result.error as { status?: number } | undefined)?.status ?? 500);
}
