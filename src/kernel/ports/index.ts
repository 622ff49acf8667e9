export type { Clock, IdGenerator } from "./clock.ts";
export { defineDriver } from "./define-driver.ts";
export type {
  CreateOptions,
  Driver,
  DriverCapabilities,
  DriverContext,
  DriverPort,
  DriverSchema,
  EntityRef,
  FindManyQuery,
  FindOptions,
  LinkOptions,
  Row,
  SortKey,
  TransactionOptions,
  Where,
} from "./driver.ts";
export type { FieldChecks, FieldReader } from "./field-checks.ts";
export type { AskField, FieldQuestion, FieldRules } from "./field-rules.ts";
export type { Logger } from "./logger.ts";
export type { Precondition, RequestConditions } from "./precondition.ts";
export { ANONYMOUS, type Principal, SYSTEM, type User } from "./principal.ts";
export type { ParseQuery, QueryParser, QueryPart } from "./query-parser.ts";
export type {
  RemoteCaller,
  RemoteFetchOptions,
  RemoteInclude,
  RemoteService,
  SharedAnswers,
} from "./remote-service.ts";
export type {
  AnswerDescription,
  ContentDescription,
  DescribeRoute,
  ParameterDescription,
  RecordForm,
  RouteDescription,
  RouteNotes,
  RouteReader,
} from "./route-description.ts";
export type { RouteRules } from "./route-rules.ts";
export type { RuleLists } from "./rule-lists.ts";
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
} from "./statement.ts";
export { type TracedStep, type Tracer, tracerOf } from "./tracer.ts";
export { type Middleware, type MiddlewareOptions, withCapabilities, withMiddleware } from "./with-middleware.ts";
export type { ActionRun, WorkflowRunner } from "./workflow-runner.ts";
