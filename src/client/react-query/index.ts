// Options for TanStack Query from a typed client: queries, pages and mutations of each entity. Types alone come from the
// library, so nothing of it is loaded here.
export { createQueries, type QueriesOptions } from "./create-queries.ts";
export type { EntityPages, EntityQueries, EntityQuery, MutationSettings, Queries } from "./queries.ts";
