// The kernel's public API, which the gate, plugins and adapters import.

export { didYouMean, nearest, unknownKeys } from "../entity/base/did-you-mean.ts";
export { createSerialQueue, isPromiseLike, type SerialQueue, withDeadline } from "./async/promises.ts";
export {
  clearGlobalContainer,
  createService,
  getGlobalContainer,
  lazyService,
  setGlobalContainer,
} from "./container/create-service.ts";
export { createScope, ScopedContainer, type ServiceSource } from "./container/scoped-container.ts";
export {
  ServiceContainer,
  type ServiceContext,
  type ServiceFactory,
  type ServiceName,
  type ServiceToken,
  token,
} from "./container/service-container.ts";
export type { RequestTracer } from "./create-kernel.ts";
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
} from "./errors/errors.ts";
export { type Hook, HookRegistry, passesRules, runHooks } from "./hooks/hook-registry.ts";
export {
  KERNEL_HOOKS,
  type KernelHookOptions,
  type KernelHooks,
  type KernelRequestEvent,
  type KernelResponseEvent,
  type KernelRouteAuthorization,
} from "./hooks/kernel-hooks.ts";
export { cancelBody, endWith, InFlight } from "./http/exchange.ts";
export { type Answering, answerWeb, isWebResponse } from "./http/fetch.ts";
export type { TrustedOrigins } from "./http/find-principal.ts";
export { defaultIsAdmin, isUserId } from "./http/find-principal.ts";
export { handleError, refusal } from "./http/handle-error.ts";
export {
  consoleLogger,
  createPrefixedLogger,
  describeError,
  getLogger,
  type Logger,
  noopLogger,
  safeLogger,
  setLogger,
} from "./log/logger.ts";
export type { Base, Ground } from "./plugin/base.ts";
export { detectPluginType, isValidPlugin, makePlugin, makePluginFactory } from "./plugin/create-plugin.ts";
export { shapeProblems } from "./plugin/declared-problems.ts";
export type { KernelConfig, KernelPlugin, KernelPluginContext, KernelPluginOptions } from "./plugin/kernel-plugin.ts";
export type { BodyReading } from "./request/body-reading.ts";
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
export { type QueryParameters, readParameters, shownName } from "./request/query-parameters.ts";
export { boundedBody, jsonShapeProblem } from "./request/read-body.ts";
export type { Clock, Scope, ScopeInit } from "./request/scope.ts";
export { ANONYMOUS, type Principal, SYSTEM, type User } from "./request/scope.ts";
export {
  type KernelRouteContext,
  type KernelRouteInput,
  Reply,
  type RouteListing,
} from "./routes/kernel-route.ts";
export { canonicalize, matchRoute } from "./routes/route-registry.ts";
export { escapeHtml } from "./text/escape-html.ts";
export {
  camelCase,
  capitalize,
  isValidEntityName,
  isValidIdentifier,
  kebabCase,
  pascalCase,
  pluralize,
  routeSegment,
  singularize,
  snakeCase,
} from "./text/names.ts";
