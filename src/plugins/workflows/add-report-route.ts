import type { AnyEntity } from "../../entity/index.ts";
import {
  FieldChecks,
  type FieldReader,
  isUsable,
  type OperationScope,
  type PluginContext,
  presentSettled,
  type RouteContext,
  type RouteDescription,
} from "../../gate/index.ts";
import { describeError, EntityNotFoundError } from "../../kernel/index.ts";
import { RUN } from "./engine/stored-run.ts";
import type { RunReport, WorkflowEngine } from "./engine/workflow-engine.ts";
import { readableOnly } from "./readable-only.ts";
import type { OutputFields } from "./register-workflows.ts";
import { REPORT } from "./report-schema.ts";

/** The documentation of a run's report. */
function describeReport(): RouteDescription {
  return {
    operationId: "readWorkflowRun",
    answers: { 200: { description: "How far the run has come.", content: { "application/json": REPORT } } },
    errors: [404],
  };
}

/**
 * `GET /workflow-runs/:id`, for the user of the run and for administrators. Other callers get 404.
 * @param outputs the outputs that actions declare, by name of their workflow
 */
export function addReportRoute(
  { entities, routes, use, log }: PluginContext,
  engine: WorkflowEngine,
  outputs: ReadonlyMap<string, OutputFields>,
): void {
  const readers = new Map<string, FieldReader>();

  /** The declared fields of a result; undefined when the result does not match the declaration. */
  function declared({ id, name }: RunReport, shown: unknown): unknown {
    const fields = outputs.get(name);
    if (fields === undefined) return shown;
    try {
      const reader = readers.get(name) ?? use(FieldChecks).compile(fields);
      readers.set(name, reader);
      const given = shown as Readonly<Record<string, unknown>> | null | undefined;
      return reader.fromObject(Object.fromEntries(Object.keys(fields).map((field) => [field, given?.[field]])));
    } catch (error) {
      log.error("A workflow gave another output than its action declares", { runId: id, ...describeError(error) });
      return undefined;
    }
  }

  async function reportTo(runId: string, scope: OperationScope): Promise<unknown> {
    const { user, isAdmin } = scope.principal;
    const report = runId.length > scope.app.limits.idLength ? undefined : await engine.report(runId);
    const isTheirs = report !== undefined && report.userId !== null && report.userId === user?.id;
    if (report === undefined || !(isTheirs || isAdmin)) throw new EntityNotFoundError();
    const { userId: _, use, result, ...shown } = report;
    if (result === undefined || (use !== undefined && !(await isUsable(scope, use)))) return shown;
    return {
      ...shown,
      result: declared(report, await presentSettled(await readableOnly(result, scope), scope, false)),
    };
  }

  routes.add({
    method: "GET",
    path: "/workflow-runs/:id",
    entity: entities.get(RUN) as AnyEntity,
    action: "workflow-run",
    rules: ["authenticated"],
    meta: { summary: "Read the report of a workflow's run" },
    describe: describeReport,
    handler: ({ params, scope }: RouteContext) => reportTo(params.id as string, scope),
  });
}
