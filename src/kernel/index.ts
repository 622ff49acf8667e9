// The kernel's one door: what plugins, adapters, drivers and strangers may import.

export { withDeadline } from "./async/deadline.ts";
export { InFlight, type Place } from "./async/in-flight.ts";
export { isPromiseLike } from "./async/promise-like.ts";
export { createSerialQueue, type SerialQueue } from "./async/serial-queue.ts";
export {
  CLIENT_METHODS,
  compileClients,
  type EntityClient,
  type IfVersion,
  type InProcessClient,
  type SystemClient,
} from "./client/in-process-client.ts";
export { createService, type LazyService, lazyService, type ServiceDefinition } from "./container/create-service.ts";
export { clearGlobalContainer, getGlobalContainer, setGlobalContainer } from "./container/global-container.ts";
export { createScope, ScopedContainer, type ServiceSource } from "./container/scoped-container.ts";
export {
  ServiceContainer,
  type ServiceContext,
  type ServiceFactory,
  type ServiceLifecycle,
  type ServiceOptions,
} from "./container/service-container.ts";
export {
  conflictError,
  forbiddenError,
  internalError,
  notFoundError,
  unauthorizedError,
  validationError,
} from "./errors/builders.ts";
export {
  AuthenticationError,
  AuthorizationError,
  BadRequestError,
  ConflictError,
  DatabaseError,
  DatabaseUnavailableError,
  DecryptionError,
  type DecryptionFailure,
  EntityNotFoundError,
  type FieldErrors,
  InternalError,
  MethodNotAllowedError,
  NotStoredError,
  PayloadTooLargeError,
  PluginError,
  PreconditionFailedError,
  PreconditionRequiredError,
  RateLimitedError,
  ReferencedError,
  UnavailableError,
  UnsupportedMediaTypeError,
  ValidationFailedError,
  type ValidationIssue,
  WorkflowFailedError,
  type WorkflowFailure,
} from "./errors/errors.ts";
export {
  describeError,
  type ErrorReply,
  type ErrorReplyOptions,
  handleError,
  stackFrames,
} from "./errors/handle-error.ts";
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
} from "./hooks/hook-map.ts";
export { HookRegistry, runHooks } from "./hooks/hook-registry.ts";
export { baseHeaders } from "./http/base-headers.ts";
export { cancelBody } from "./http/cancel-body.ts";
export { type CanonicalUrl, canonicalize } from "./http/canonicalize.ts";
export { endWith } from "./http/end-with.ts";
export { type Answering, answerWeb, isWebResponse } from "./http/fetch.ts";
export { defaultIsAdmin, isUserId } from "./http/find-principal.ts";
export { jsonShapeProblem } from "./http/json-shape.ts";
export type { HttpExchange, KernelBody, KernelRequest, KernelResponse, RequestInfo } from "./http/messages.ts";
export { type QueryParameters, readParameters, shownName } from "./http/query-parameters.ts";
export { boundedBody } from "./http/read-body.ts";
export { refusal } from "./http/refusal.ts";
export type { TrustedOrigins } from "./http/refuse-forged.ts";
export { createKernel, type Kernel, type KernelOptions } from "./kernel.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export { consoleLogger, createPrefixedLogger, getLogger, noopLogger, safeLogger, setLogger } from "./log/logger.ts";
export { defaultIds } from "./operations/default-ids.ts";
export { includedBytes } from "./operations/execute-read.ts";
export type {
  Decision,
  IncludeTree,
  Operation,
  OperationInput,
  OperationKind,
  OperationQuery,
} from "./operations/operation.ts";
export { RequestScope, type ScopeInit } from "./operations/request-scope.ts";
export { compileRuntime, type OperationRuntime } from "./operations/runtime.ts";
export type { OperationScope, RouteAccess, ScopeTransactionOptions } from "./operations/scope.ts";
export { createPlugin, createPluginFactory, endpoint } from "./plugin/create-plugin.ts";
export { createDeclarations } from "./plugin/declarations.ts";
export { layerDriver } from "./plugin/driver-layers.ts";
export { type EntitySchema, type EntitySchemaEntry, entitiesOf, schemaFromEntities } from "./plugin/entity-schema.ts";
export { featuresOf } from "./plugin/features.ts";
export { detectPluginType, isValidPlugin } from "./plugin/inspect.ts";
export type { Endpoint, EndpointConfig, Plugin, PluginConfig, PluginContext, PluginOptions } from "./plugin/plugin.ts";
export { PluginList } from "./plugin/plugin-list.ts";
export * from "./ports/index.ts";
export { ByteBudget, type ByteHolder } from "./records/byte-budget.ts";
export { entityName } from "./records/find-entity.ts";
export { baseMask, type FieldMask, type Guard, type RowAccess } from "./records/mask.ts";
export { markShown, satisfiesAlone } from "./records/row-access.ts";
export { mostBytes, mostRowBytes, rowBytes } from "./records/row-bytes.ts";
export { present, presentSettled } from "./records/serialize.ts";
export { type RecordUse, ShownRecords } from "./records/shown-records.ts";
export { entityOfRecord, knownOf, tagRecord } from "./records/tag-record.ts";
export { taggingDriver } from "./records/tagging-driver.ts";
export { forDecisions, noteUndecryptable } from "./records/undecryptable.ts";
export { matchRoute } from "./routes/match-route.ts";
export { pluralize, routeSegment, singularize } from "./routes/plural.ts";
export {
  Reply,
  type Route,
  type RouteContext,
  type RouteHandler,
  type RouteInput,
  type RouteListing,
} from "./routes/route.ts";
export {
  camelCase,
  capitalize,
  isValidEntityName,
  isValidIdentifier,
  kebabCase,
  pascalCase,
  snakeCase,
} from "./text/case.ts";
export { didYouMean, nearest, unknownKeys } from "./text/did-you-mean.ts";
export { allOf, compileWhere } from "./where/compile-where.ts";
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
} from "./where/condition.ts";
export { expectUnchanged } from "./where/expect-unchanged.ts";
export { explainRemote } from "./where/explain-remote.ts";
export { decodeCursor, encodeCursor, keysetCondition, streamByKeyset, totalOrder } from "./where/keyset.ts";
export { matches, type RelatedRows } from "./where/matches.ts";
export { askedOfStored, storedMeet } from "./where/new-record.ts";
export { type Observation, observe } from "./where/observe.ts";
export { asItMeets, meets } from "./where/passes.ts";
export { asReader, storedRecord } from "./where/stored-record.ts";
