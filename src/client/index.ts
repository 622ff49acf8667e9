// A typed client of an API over fetch, for browsers: it takes types of the entity language and nothing of the server.
export type { ClientEntity } from "./client-entity.ts";
export type { ClientOptions } from "./client-options.ts";
export type { ClientQuery } from "./client-query.ts";
export { clientRoutes } from "./client-routes.ts";
export { type Client, createClient } from "./create-client.ts";
export { KeelsonClientError } from "./keelson-client-error.ts";
export type { OverTheWire, Sendable } from "./over-the-wire.ts";
export { type ListQuery, serializeListQuery } from "./serialize-list-query.ts";
