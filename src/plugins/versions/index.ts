// versions: optimistic concurrency for `.versioned()` entities. Responses with one record carry an ETag, and `If-Match`
// and `If-None-Match` are checked.
import {
  createPlugin,
  type ParameterDescription,
  type Plugin,
  RequestConditions,
  type Route,
  type RouteDescription,
  RouteNotes,
} from "../../gate/index.ts";
import { createRequestConditions } from "./create-request-conditions.ts";

// No hooks, no options. Drivers count the versions.

/** Service: a {@link RequestConditions}, for routes that return or change one record. */

/** Adds versions of records as ETags, and preconditions of requests. */
export function versions(): Plugin {
  return createPlugin({
    id: "versions",
    version: "1.0.0",
    provides: ["versioned"],
    setup({ provide }) {
      const conditions = createRequestConditions();
      provide(RequestConditions, () => conditions);
    },
    start({ tryUse }) {
      // Adds notes to the documentation, if the plugin for it is present.
      tryUse(RouteNotes)?.add(noteOf);
    },
  });
}

/** The documentation of a route's preconditions. Without versions, `If-Match` always fails, so 412 is documented. */
function noteOf({
  entity,
  path,
  method,
  access,
  action,
}: Route): Pick<RouteDescription, "errors" | "parameters"> | undefined {
  if (entity !== undefined && action === "upsert") {
    const { versioned } = entity;
    if (versioned === undefined) return { errors: [412] };
    return { parameters: [{ ...IF_MATCH, required: false }], errors: versioned.required ? [412, 428] : [412] };
  }
  if (entity === undefined || !path.includes("/:id")) return undefined;
  if (entity.versioned === undefined) return method === "GET" ? undefined : { errors: [412] };
  const isRead = method === "GET" && action === "read";
  const required = entity.versioned.required && method !== "GET" && (access === "update" || access === "delete");
  return {
    parameters: [{ ...IF_MATCH, required }, ...(isRead ? [IF_NONE_MATCH] : [])],
    errors: required ? [412, 428] : [412],
  };
}

const IF_MATCH: ParameterDescription = Object.freeze({
  name: "If-Match",
  in: "header",
  shared: true,
  schema: { type: "string", examples: ['"3"'] },
  description: "The request is refused unless the record has one of these versions: an ETag, or the version in quotes.",
});

const IF_NONE_MATCH: ParameterDescription = Object.freeze({
  name: "If-None-Match",
  in: "header",
  shared: true,
  schema: { type: "string" },
  description: "An ETag: 304 without the record, if that is what the answer would be again.",
});
