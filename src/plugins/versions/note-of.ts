import type { ParameterDescription, Route, RouteDescription } from "../../kernel/index.ts";

/** What documentation says about the conditions of a route. Without versions none of them can hold, which is said, too. */
export function noteOf({
  entity,
  path,
  method,
  access,
  action,
}: Route): Pick<RouteDescription, "errors" | "parameters"> | undefined {
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
  schema: { type: "string", examples: ['"3"'] },
  description: "The request is refused unless the record has one of these versions: an ETag, or the version in quotes.",
});

const IF_NONE_MATCH: ParameterDescription = Object.freeze({
  name: "If-None-Match",
  in: "header",
  schema: { type: "string" },
  description: "An ETag: 304 without the record, if that is what the answer would be again.",
});
