// versions: optimistic concurrency of entities that are `.versioned()`. Answers with one record carry an ETag, and
// `If-Match` and `If-None-Match` are kept.
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

/** Service: a {@link RequestConditions}, for surfaces that answer with one record, or change it. */

/** Versions of records as ETags, and what requests ask of them. */
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
      // Another plugin keeps the notes, and need not be there.
      tryUse(RouteNotes)?.add(noteOf);
    },
  });
}

/** What documentation says about the conditions of a route. Without versions they cannot hold, which the documentation says. */
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
