// The gate's door: what plugins, drivers and clients import to read and write records. All of it is published.

export {
  CLIENT_METHODS,
  type EntityClient,
  type IfVersion,
  type InProcessClient,
  type SystemClient,
} from "./client/in-process-client.ts";
export { allOf, compileWhere } from "./condition/compile-where.ts";
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
export { matches, type RelatedRows } from "./condition/matches.ts";
export { forDecisions, noteUndecryptable } from "./condition/undecryptable.ts";
export type { EntityRef, Row, Where } from "./condition/where.ts";
export { type App, type AppOptions, createApp } from "./create-app.ts";
export { type EntitySchema, type EntitySchemaEntry, schemaFromEntities } from "./entity-schema.ts";
export { type GateOptions, gate, type Records } from "./gate.ts";
export { defaultIds, type IdGenerator } from "./operation/default-ids.ts";
export type {
  HookFunction,
  HookMap,
  HookName,
  HookOptions,
  MaskDraft,
  RequestEvent,
  ResponseEvent,
  RouteAuthorization,
  RouteCall,
} from "./operation/hook-map.ts";
export { baseMask, type FieldMask, type Guard, type RowAccess } from "./operation/mask.ts";
export type {
  Decision,
  IncludeTree,
  Operation,
  OperationInput,
  OperationKind,
  OperationQuery,
} from "./operation/operation.ts";
export type { OperationScope, RouteAccess, ScopeTransactionOptions } from "./operation/operation-scope.ts";
export type { Policy, PolicyQuestion } from "./operation/policy.ts";
export type { Precondition, RequestConditions } from "./operation/precondition.ts";
export type { Otherwise } from "./operation/requirement.ts";
export type { Route, RouteContext, RouteHandler, RouteInput } from "./operation/route.ts";
export type {
  AnswerDescription,
  ContentDescription,
  DescribeRoute,
  ParameterDescription,
  RecordForm,
  RouteDescription,
  RouteNotes,
  RouteReader,
} from "./operation/route-description.ts";
export { type RecordUse, ShownRecords } from "./operation/shown-records.ts";
export { type TracedStep, type Tracer, tracerOf } from "./operation/tracer.ts";
export {
  createPlugin,
  createPluginFactory,
  type Endpoint,
  type EndpointConfig,
  endpoint,
  type Plugin,
  type PluginConfig,
  type PluginContext,
  type PluginOptions,
} from "./plugin.ts";
export { PluginList } from "./plugin-list.ts";
export type { FieldChecks, FieldReader } from "./ports/field-checks.ts";
export type { AskField, FieldQuestion, FieldRules } from "./ports/field-rules.ts";
export type { ParseQuery, QueryParser, QueryPart } from "./ports/query-parser.ts";
export type {
  RemoteCaller,
  RemoteFetchOptions,
  RemoteInclude,
  RemoteService,
  SharedAnswers,
} from "./ports/remote-service.ts";
export type { RouteRules } from "./ports/route-rules.ts";
export type { RuleLists } from "./ports/rule-lists.ts";
export type { ActionRun, WorkflowRunner } from "./ports/workflow-runner.ts";
export { markShown, satisfiesAlone } from "./record/row-access.ts";
export { present, presentSettled } from "./record/serialize.ts";
export { entityOfRecord, knownOf, tagRecord } from "./record/tag-record.ts";
export { taggingDriver } from "./record/tagging-driver.ts";
export { seesRelation } from "./requirement/check-query.ts";
export { expectUnchanged } from "./requirement/expect-unchanged.ts";
export { explainRemote } from "./requirement/explain-remote.ts";
export { findsRecord } from "./requirement/finds-record.ts";
export { isUsable, type Use } from "./requirement/is-usable.ts";
export { askedOfStored, storedMeet } from "./requirement/new-record.ts";
export { type Observation, observe } from "./requirement/observe.ts";
export { asItMeets, asItPasses, meets } from "./requirement/passes.ts";
export { asReader, storedRecord } from "./requirement/stored-record.ts";
export { includedBytes } from "./run/execute-read.ts";
export { ByteBudget } from "./statement/byte-budget.ts";
export { defineDriver } from "./statement/define-driver.ts";
export type {
  CreateOptions,
  Driver,
  DriverCapabilities,
  DriverContext,
  DriverPort,
  DriverSchema,
  FindManyQuery,
  FindOptions,
  LinkOptions,
  SortKey,
  TransactionOptions,
} from "./statement/driver.ts";
export { entityName } from "./statement/find-entity.ts";
export { decodeCursor, encodeCursor, keysetCondition, totalOrder } from "./statement/keyset.ts";
export { countedBytes, mostBytes, mostRowBytes, rowBytes } from "./statement/row-bytes.ts";
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
  type ResultOf,
  type Statement,
  type Update,
  type Written,
} from "./statement/statement.ts";
export {
  type Middleware,
  type MiddlewareOptions,
  withCapabilities,
  withMiddleware,
} from "./statement/with-middleware.ts";
