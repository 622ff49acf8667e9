// A typed client of an API over fetch, for browsers: it takes types of the entity language and nothing of the server.
export type { ClientActions, StartedRun } from "./client-actions.ts";
export type { ClientEntity, ModifyCall } from "./client-entity.ts";
export type { CallOptions, ClientOptions, TypedApp } from "./client-options.ts";
export type { ClientQuery, ClientWhere } from "./client-query.ts";
export { type ActionRoute, clientRoutes, type EntityRoutes, type RoutedApp } from "./client-routes.ts";
export { type Client, createClient } from "./create-client.ts";
export { type ClientIssue, KeelsonClientError } from "./keelson-client-error.ts";
export type { ModifyOptions } from "./modify.ts";
export type { OverTheWire, Sendable } from "./over-the-wire.ts";
export {
  type ListOperators,
  type ListQuery,
  type ListValue,
  type ListWhere,
  serializeListQuery,
} from "./serialize-list-query.ts";
export type { WorkflowRun, WorkflowRuns } from "./workflow-runs.ts";
