export type { AddedIn, EntitiesWith } from "./added-types.ts";
// The gate's public API, which plugins, drivers and clients import to read and write records. All of it is published.

export type {
  ChangeKind,
  RecordChange,
} from "./change/record-change.ts";
export {
  CLIENT_METHODS,
  type EntityClient,
  type InProcessClient,
  type SystemClient,
} from "./client/in-process-client.ts";
export { addPath, includeTree } from "./client/include-tree.ts";
export { allOf, compileWhere, logicOf, quantifiersOf } from "./condition/compile-where.ts";
export type { EntityRef, Row, Where } from "./condition/condition.ts";
export {
  ALWAYS,
  and,
  type Compare,
  type Condition,
  compare,
  isAlways,
  type Leaf,
  looksAt,
  mapCondition,
  NEVER,
  not,
  or,
  type Related,
  related,
  soleId,
  type Test,
  visitCondition,
} from "./condition/condition.ts";
export { isJsonPath, readJsonPath, testAtPath } from "./condition/json-path.ts";
export { forDecisions, type KnownAnswers, matches, noteUndecryptable, type RelatedRows } from "./condition/matches.ts";
export { HIGHLIGHTS, isSearchable, RANK } from "./condition/search.ts";
export { endpoint } from "./endpoint.ts";
export { schemaFromEntities } from "./entity-schema.ts";
export { type App, type AppOptions, createApp } from "./gate.ts";
export {
  createPlugin,
  createPluginFactory,
  type Plugin,
  type PluginContext,
  PluginList,
  type PluginOptions,
} from "./gate-plugin.ts";
export type { FurtherWrite, LockedRecord, PairChange } from "./operation/further-write.ts";
export type {
  HookFunction,
  HookMap,
  HookName,
  MaskDraft,
  RequestEvent,
  ResponseEvent,
  RouteAuthorization,
  RouteCall,
} from "./operation/hook-map.ts";
export { ignoredHeader } from "./operation/ignored-header.ts";
export {
  baseMask,
  type FieldMask,
  type Guard,
  type RowAccess,
} from "./operation/mask.ts";
export { isNestedWrite } from "./operation/nested-write.ts";
export { defaultIds, type IdGenerator } from "./operation/new-ids.ts";
export type {
  AggregateQuery,
  Decision,
  Included,
  IncludeTree,
  Operation,
  OperationInput,
  OperationKind,
  OperationQuery,
} from "./operation/operation.ts";
export { INCLUDED } from "./operation/operation.ts";
export {
  type OperationScope,
  RequestConditions,
  type RouteAccess,
  type ScopeState,
} from "./operation/operation-scope.ts";
export type { Policy, PolicyQuestion } from "./operation/policy.ts";
export type { Route, RouteContext, RouteHandler, RouteInput } from "./operation/route.ts";
export {
  type AnswerDescription,
  type ContentDescription,
  type DescribeRoute,
  type ParameterDescription,
  type RecordForm,
  type RouteDescription,
  RouteNotes,
  type RouteReader,
} from "./operation/route-description.ts";
export { type Tracer, tracerOf } from "./operation/runtime.ts";
export { type RecordUse, ShownRecords } from "./operation/shown-records.ts";
export {
  type AskField,
  FieldChecks,
  type FieldQuestion,
  type FieldReader,
  FieldRules,
  RuleLists,
} from "./ports/field-rules.ts";
export { AuditLog, EncryptionKeys, type KeyPosition, type KeyRotation, RemoteServices } from "./ports/operations.ts";
export { type ParseQuery, QueryParser, type QueryPart } from "./ports/query-parser.ts";
export type {
  RemoteCaller,
  RemoteFetchOptions,
  RemoteInclude,
  RemoteService,
  SharedAnswers,
} from "./ports/remote-service.ts";
export { ResponseRights } from "./ports/response-rights.ts";
export { WorkflowRunner } from "./ports/workflow-runner.ts";
export { digestOf } from "./record/digest.ts";
export { notingScope, plainScope } from "./record/noting-scope.ts";
export { presentGroups } from "./record/present-groups.ts";
export { COUNTS, markShown, present, presentSettled, satisfiesAlone } from "./record/serialize.ts";
export { entityOfRecord, idOfParts, knownOf, taggingDriver, tagRecord } from "./record/tag-record.ts";
export { explainRemote, seesRelation } from "./requirement/check-query.ts";
export { asReader, storedRecord } from "./requirement/decisions.ts";
export { findsRecord, isUsable, type Use } from "./requirement/is-usable.ts";
export { askedOfStored, storedMeet } from "./requirement/new-record.ts";
export { asItMeets, expectUnchanged, meets, type Observation, observe } from "./requirement/passes.ts";
export { type Reasons, reasonsFor, stillAllowed } from "./requirement/reasons.ts";
export { giveTurn, holdBriefly, inTurn, waitBriefly } from "./run/brief-transaction.ts";
export { decideAgain, entitiesInRule, notePairs, pairsChangedBy } from "./run/decide-again.ts";
export { includedBytes, shownBytes } from "./run/execute-read.ts";
export { orderOfSearch } from "./run/rank.ts";
export { inOrderOfIds } from "./run/run-several.ts";
export { findByKey, keyValue, upsert } from "./run/upsert.ts";
export {
  type Aggregate,
  assertGroups,
  Fold,
  type GroupKey,
  type Measure,
  MOST_GROUPS,
  noSum,
  orderOfGroups,
  type Part,
  resultOf,
  toUnits,
} from "./statement/aggregate.ts";
export { ByteBudget, countedBytes, mostBytes, mostRowBytes, rowBytes } from "./statement/byte-budget.ts";
export { BUCKETS, type Bucket, bucketOf } from "./statement/calendar.ts";
export { defineDriver, entityName } from "./statement/define-driver.ts";
export type {
  Driver,
  DriverCapabilities,
  DriverContext,
  DriverPort,
  DriverSchema,
  FindManyQuery,
  SortKey,
  TransactionOptions,
} from "./statement/driver-port.ts";
export { foldRecords } from "./statement/fold-records.ts";
export { columnOf, decodeCursor, encodeCursor, keysetCondition, totalOrder } from "./statement/keyset.ts";
export {
  type ChangePairs,
  type Count,
  type Delete,
  type Execute,
  entityOf,
  type Find,
  type FindPairs,
  type Insert,
  isRead,
  type JoinedFind,
  type Pair,
  type Ranked,
  type ResultOf,
  type Statement,
  type Update,
  type Written,
} from "./statement/statement.ts";
export { type TransactionSlots, transactionSlots } from "./statement/transaction-slots.ts";
export {
  type Middleware,
  type MiddlewareOptions,
  narrowed,
  withCapabilities,
  withMiddleware,
} from "./statement/with-middleware.ts";
