// Adds remote joins: relations to records of other services, or to the app's own records without a database relation.
// Specification sections 2.5, 2.6 and 4.4.

import type { EntityModel } from "../../entity/index.ts";
import {
  createPlugin,
  type IncludeTree,
  type Operation,
  type OperationKind,
  type OperationScope,
  type Plugin,
  type RemoteCaller,
  RemoteServices,
  waitBriefly,
} from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { checkRelations, hasRemoteRelations } from "./remote-relations.ts";
import { scopeViewer } from "./scope-viewer.ts";
import { createBreakers } from "./stitch/ask-batch.ts";
import { noteOnAnswer } from "./stitch/failures.ts";
import { completeOptions, type JoinSettings, type RemoteJoinsOptions } from "./stitch/remote-joins-options.ts";
import { createStitcher, type Stitcher } from "./stitch/stitch.ts";
import { memoOf } from "./stitch/stitch-context.ts";

export { createRemoteJoiner } from "./create-remote-joiner.ts";
export { httpService } from "./http-service/index.ts";

export {
  getRemoteRelationFields,
  hasRemoteRelations,
  splitIncludes,
  validateRemoteRelations,
} from "./remote-relations.ts";
export type { RemoteJoinsOptions } from "./stitch/remote-joins-options.ts";

// Hooks: operation:join (records of remote relations). Service: `RemoteServices`, in an app with relations to services.

const KNOWN: Readonly<Record<keyof RemoteJoinsOptions, true>> = {
  batchSize: true,
  timeout: true,
  cache: true,
  concurrency: true,
  breaker: true,
  maxRecordBytes: true,
};

/** Joins the records of `.remote()` relations in `include`. An app with such relations does not start without it. */
export function remoteJoins(options: RemoteJoinsOptions = {}): Plugin {
  const settings = completeOptions(options, "remoteJoins");
  return createPlugin({
    id: "remote-joins",
    version: "1.0.0",
    provides: ["remote-relations"],
    setup({ hooks, problem, provide, entities }) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) problem(`remoteJoins: ${sentence}`);
      const breakers = createBreakers(settings);
      const names = servicesOf(entities);
      if (names.length > 0)
        provide(RemoteServices, () => ({
          states: () => names.map((name) => ({ name, state: breakers.stateOf(name) })),
        }));
      const stitcher = createStitcher(settings, breakers);
      hooks.on("operation:join", (operation) => join(operation, stitcher, settings), {
        appliesTo: (entity, kind) => hasRemoteRelations(entity) && givesRecords(kind),
        timeout: 0, // a stitch has its own deadline
      });
    },
    start: checkRelations, // services can be registered until then
  });
}

/** Names of the services of all remote relations. */
function servicesOf({ entities }: EntityModel): readonly string[] {
  const named = entities.flatMap(({ relations }) =>
    Object.values(relations).flatMap(({ remote }) => remote?.service ?? []),
  );
  return [...new Set(named)].sort();
}

function givesRecords(kind: OperationKind): boolean {
  return kind !== "count" && kind !== "delete";
}

function join(operation: Operation, stitcher: Stitcher, settings: JoinSettings): void | Promise<void> {
  const { entity, records, query } = operation;
  if (query.include === undefined || records.length === 0) return;
  const remote = Object.entries(query.include).filter(([name]) => entity.relations[name]?.remote !== undefined);
  return remote.length === 0 ? undefined : joinRemote(operation, Object.fromEntries(remote), stitcher, settings);
}

async function joinRemote(
  { entity, records, scope }: Operation,
  include: IncludeTree,
  stitcher: Stitcher,
  settings: JoinSettings,
): Promise<void> {
  waitBriefly(scope);
  const failures = await stitcher({
    entity,
    records,
    include,
    model: scope.app.model,
    services: scope.services,
    viewer: scopeViewer(scope, settings),
    caller: callerOf(scope),
    memo: memoOf(scope.exchange ?? scope),
    signal: scope.exchange?.signal,
  });
  failures.log(scope.app.log, scope.requestId);
  noteOnAnswer(scope.exchange, failures);
}

/** The caller that services see: the user and the request's headers. The system has neither. */
function callerOf({ principal, exchange }: Pick<OperationScope, "principal" | "exchange">): RemoteCaller {
  return {
    user: principal.user,
    header(name) {
      const value = exchange?.request.headers[name.toLowerCase()];
      return typeof value === "string" || value === undefined ? value : value.join(", ");
    },
  };
}
