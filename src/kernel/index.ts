// The kernel's one door: what the gate, plugins and adapters may import.

export { withDeadline } from "./async/deadline.ts";
export { InFlight, type Place } from "./async/in-flight.ts";
export { isPromiseLike } from "./async/promise-like.ts";
export { createSerialQueue, type SerialQueue } from "./async/serial-queue.ts";
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
export { createKernel, type Kernel, type KernelOptions } from "./create-kernel.ts";
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
  RecordChangedError,
  ReferencedError,
  UnavailableError,
  UnsupportedMediaTypeError,
  ValidationFailedError,
  type ValidationIssue,
  WorkflowFailedError,
  type WorkflowFailure,
} from "./errors/errors.ts";
export { type Hook, HookRegistry, runHooks } from "./hooks/hook-registry.ts";
export {
  KERNEL_HOOKS,
  type KernelHookOptions,
  type KernelHooks,
  type KernelRequestEvent,
  type KernelResponseEvent,
  type KernelRouteAuthorization,
} from "./hooks/kernel-hooks.ts";
export { passesRules } from "./hooks/passes-rules.ts";
export { type Answering, answerWeb, isWebResponse } from "./http/fetch.ts";
export { defaultIsAdmin, isUserId } from "./http/find-principal.ts";
export { type ErrorReply, type ErrorReplyOptions, handleError } from "./http/handle-error.ts";
export { refusal } from "./http/refusal.ts";
export type { TrustedOrigins } from "./http/refuse-forged.ts";
export type { RequestTracer } from "./http/traced-handle.ts";
export { describeError } from "./log/describe-error.ts";
export {
  consoleLogger,
  createPrefixedLogger,
  getLogger,
  type Logger,
  noopLogger,
  safeLogger,
  setLogger,
} from "./log/logger.ts";
export type { Base, Ground } from "./plugin/base.ts";
export { makePlugin, makePluginFactory } from "./plugin/create-plugin.ts";
export { createDeclarations } from "./plugin/declarations.ts";
export { declarationShapes, shapeProblems } from "./plugin/declared-problems.ts";
export { detectPluginType, isValidPlugin } from "./plugin/inspect.ts";
export type { KernelConfig, KernelPlugin, KernelPluginContext, KernelPluginOptions } from "./plugin/kernel-plugin.ts";
export { baseHeaders } from "./request/base-headers.ts";
export { cancelBody } from "./request/cancel-body.ts";
export type { Clock } from "./request/clock.ts";
export { endWith } from "./request/end-with.ts";
export { jsonShapeProblem } from "./request/json-shape.ts";
export { DEFAULT_LIMITS, type Limits } from "./request/limits.ts";
export type {
  ByteHolder,
  HttpExchange,
  KernelBody,
  KernelRequest,
  KernelResponse,
  RequestInfo,
} from "./request/messages.ts";
export {
  bareContent,
  checkDepth,
  type ErrorContent,
  kMarked,
  type Presenter,
  presentPlain,
  tellable,
} from "./request/present.ts";
export { ANONYMOUS, type Principal, SYSTEM, type User } from "./request/principal.ts";
export { type QueryParameters, readParameters, shownName } from "./request/query-parameters.ts";
export { boundedBody } from "./request/read-body.ts";
export type { Scope, ScopeInit } from "./request/scope.ts";
export { type CanonicalUrl, canonicalize } from "./routes/canonicalize.ts";
export {
  type KernelRouteContext,
  type KernelRouteInput,
  Reply,
  type RouteListing,
} from "./routes/kernel-route.ts";
export { matchRoute } from "./routes/match-route.ts";
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
export { pluralize, routeSegment, singularize } from "./text/plural.ts";
