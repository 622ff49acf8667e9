import type { AnyEntity, JsonSchema } from "../../entity/index.ts";
import {
  decodeCursor,
  encodeCursor,
  type OperationScope,
  type PluginContext,
  type RouteContext,
  type RouteDescription,
  type Row,
  type SortKey,
  type Where,
} from "../../gate/index.ts";
import { BadRequestError, Reply } from "../../kernel/index.ts";
import { RUN, runReport } from "./engine/stored-run.ts";
import { REPORT, STATUSES } from "./report-schema.ts";

/** The most recent run first. */
const ORDER: readonly SortKey[] = [
  { field: "startedAt", direction: "desc" },
  { field: "id", direction: "desc" },
];
const COLUMNS = ["id", "name", "status", "startedAt", "updatedAt", "userId", "failedStep", "error"];

/**
 * `GET /workflow-runs` lists the runs of the user, or all runs for administrators, page by page. The report of a single
 * run has its result and steps.
 */
export function addListRoute({ entities, routes }: PluginContext): void {
  const entity = entities.get(RUN) as AnyEntity;
  routes.add({
    method: "GET",
    path: "/workflow-runs",
    entity,
    action: "workflow-runs",
    rules: ["authenticated"],
    meta: { summary: "List runs of workflows" },
    describe: describeList,
    handler: ({ search, scope }: RouteContext) => listRuns(entity, new URLSearchParams(search), scope),
  });
}

async function listRuns(entity: AnyEntity, query: URLSearchParams, scope: OperationScope): Promise<Reply> {
  const { user, isAdmin } = scope.principal;
  const { pageBytes } = scope.app.limits;
  const { where, after, limit } = readQuery(query, scope);
  const position = after === undefined ? [] : [afterPosition(decodeCursor(entity, ORDER, after))];
  const whose = isAdmin ? {} : { userId: user?.id };
  const rows = await scope.asSystem(({ driver }) =>
    driver.findMany(RUN, {
      where: { AND: [{ ...where, ...whose }, ...position] },
      sort: ORDER,
      limit: limit + 1,
      select: COLUMNS,
    }),
  );
  const reports: unknown[] = [];
  let bytes = 0;
  let last: Row | undefined;
  for (const row of rows.slice(0, limit)) {
    const { userId, use: _, ...shown } = runReport(row);
    const report = isAdmin ? { ...shown, userId } : shown;
    bytes += Buffer.byteLength(JSON.stringify(report));
    if (last !== undefined && bytes > pageBytes) break;
    reports.push(report);
    last = row;
  }
  const next = last === undefined || reports.length === rows.length ? undefined : encodeCursor(ORDER, last);
  return new Reply(200, reports, next === undefined ? {} : { "x-next-cursor": next });
}

function afterPosition([startedAt, id]: readonly unknown[]): Where {
  return { OR: [{ startedAt: { lt: startedAt } }, { startedAt, id: { lt: id } }] } as Where;
}

interface ListQuery {
  readonly where: Where;
  readonly after: string | undefined;
  readonly limit: number;
}

/** @throws BadRequestError naming the invalid parameter */
function readQuery(query: URLSearchParams, { app }: OperationScope): ListQuery {
  const { pageSize, maxPageSize } = app.limits;
  const unknown = [...query.keys()].find((name) => !PARAMETERS.some((one) => one.name === name));
  if (unknown !== undefined) throw new BadRequestError(`There is no parameter "${unknown.slice(0, 40)}" here`);
  const given = Object.fromEntries(query);
  if (given.status !== undefined && !Object.hasOwn(STATUSES, given.status))
    throw new BadRequestError(`A status is one of ${Object.keys(STATUSES).join(", ")}`);
  const limit = Number(given._limit ?? Math.min(pageSize, maxPageSize));
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPageSize)
    throw new BadRequestError(`"_limit" is a whole number from 1 to ${maxPageSize}`);
  const where = {
    ...(given.status === undefined ? {} : { status: given.status }),
    ...(given.name === undefined ? {} : { name: given.name }),
  };
  return { where, after: given._after, limit };
}

const TEXT: JsonSchema = Object.freeze({ type: "string" });
const PARAMETERS = [
  { name: "status", schema: { ...TEXT, enum: Object.keys(STATUSES) } },
  { name: "name", schema: TEXT, description: "Name of the workflow, such as `order.place`." },
  { name: "_limit", schema: { type: "integer", minimum: 1 } },
  { name: "_after", schema: TEXT, description: "The `X-Next-Cursor` of the page before." },
] as const;

/** The list's documentation. */
function describeList(): RouteDescription {
  return {
    operationId: "listWorkflowRuns",
    parameters: PARAMETERS.map((one) => ({ ...one, in: "query" as const })),
    answers: {
      200: {
        description: "Runs, the last begun first; `X-Next-Cursor` is there when there are more.",
        content: { "application/json": { type: "array", items: REPORT } },
      },
    },
    errors: [400],
  };
}
