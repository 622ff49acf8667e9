// Options for TanStack Query from a typed client: queries, pages and mutations of each entity. Only the library's types
// are imported, so none of its code is loaded here.
export { createQueries, type QueriesOptions } from "./create-queries.ts";
export type { EntityPages, EntityQueries, EntityQuery, MutationSettings, Queries } from "./queries.ts";
