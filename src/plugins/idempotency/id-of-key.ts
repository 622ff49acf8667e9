import { createHash } from "node:crypto";
import { BadRequestError, type RouteContext } from "../../kernel/index.ts";
import type { IdempotencySettings } from "./idempotency-options.ts";

/**
 * The id of a key of a caller: a key that two of them send is two keys, and nobody learns of the other one.
 * @throws BadRequestError for callers whom nothing tells apart
 */
export function idOfKey(
  { request, scope }: Pick<RouteContext, "request" | "scope">,
  key: string,
  { guestOf }: IdempotencySettings,
): string {
  const { user } = scope.principal;
  const guest = user === null ? guestOf(request) : undefined;
  if (user === null && (typeof guest !== "string" || guest === ""))
    throw new BadRequestError("Idempotency-Key is for callers who are known: log in, or send the request without it");
  const caller = user === null ? ["guest", guest] : ["user", user.id];
  return createHash("sha256")
    .update(JSON.stringify([...caller, key]))
    .digest("base64url");
}
