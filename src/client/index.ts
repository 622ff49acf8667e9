// A typed client of an API over fetch, for browsers. It imports types of the entity layer, but no server code.
export type { ClientEntity, ClientQuery } from "./client-entity.ts";
export type { ClientOptions } from "./client-options.ts";
export { clientRoutes } from "./client-routes.ts";
export { type Client, createClient } from "./create-client.ts";
export type { OverTheWire, Sendable } from "./create-sender.ts";
export { KeelsonClientError } from "./keelson-client-error.ts";
export { type ListQuery, serializeListQuery } from "./serialize-list-query.ts";
