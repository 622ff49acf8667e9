// Adds remote joins: relations whose records live in another service, or are only loosely tied to this one's.
// Specification sections 2.5, 2.6 and 4.4.
import type { IncludeTree, Operation, OperationKind } from "../../gate/index.ts";
import { createPlugin, type Plugin } from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { callerOf } from "./caller-of.ts";
import { checkRelations } from "./check-relations.ts";
import { createStitcher, type Stitcher } from "./create-stitcher.ts";
import { memoOf } from "./memo.ts";
import { noteOnAnswer } from "./note-on-answer.ts";
import { completeOptions, type JoinSettings, type RemoteJoinsOptions } from "./remote-joins-options.ts";
import { hasRemoteRelations } from "./remote-relations.ts";
import { scopeViewer } from "./scope-viewer.ts";

export { createRemoteJoiner, type RemoteJoiner, type StitchOptions } from "./create-remote-joiner.ts";
export type { JoinedEntities } from "./entities-of.ts";
export { type HttpHeaders, type HttpServiceOptions, httpService } from "./http-service/index.ts";
export type { FindingDriver } from "./open-viewer.ts";
export type { RemoteBreakerOptions, RemoteJoinsOptions } from "./remote-joins-options.ts";
export { getRemoteRelationFields, hasRemoteRelations } from "./remote-relations.ts";
export { type IncludeLike, type IncludeMap, splitIncludes } from "./split-includes.ts";
export type { ServiceLookup } from "./stitch-context.ts";
export { validateRemoteRelations } from "./validate-remote-relations.ts";

// Hooks: operation:join (records of remote relations).

const KNOWN: readonly (keyof RemoteJoinsOptions)[] = [
  "batchSize",
  "timeout",
  "cache",
  "concurrency",
  "breaker",
  "maxRecordBytes",
];

/** Joins the records of `.remote()` relations that `include` asks for. Without it, an app that has some does not start. */
export function remoteJoins(options: RemoteJoinsOptions = {}): Plugin {
  const settings = completeOptions(options, "remoteJoins");
  const stitcher = createStitcher(settings);
  return createPlugin({
    id: "remote-joins",
    version: "1.0.0",
    provides: ["remote-relations"],
    setup({ hooks, problem }) {
      for (const sentence of unknownKeys(options, KNOWN)) problem(`remoteJoins: ${sentence}`);
      hooks.on("operation:join", (operation) => join(operation, stitcher, settings), {
        appliesTo: (entity, kind) => hasRemoteRelations(entity) && givesRecords(kind),
        timeout: 0, // a stitch has a deadline of its own
      });
    },
    start: checkRelations, // services may be registered until then
  });
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
  const failures = await stitcher({
    entity,
    records,
    include,
    model: scope.model,
    services: scope.services,
    viewer: scopeViewer(scope, settings),
    caller: callerOf(scope),
    memo: memoOf(scope.exchange ?? scope),
    signal: scope.exchange?.signal,
  });
  failures.log(scope.log, scope.requestId);
  noteOnAnswer(scope.exchange, failures);
}
