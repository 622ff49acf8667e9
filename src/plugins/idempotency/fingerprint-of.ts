import { createHmac } from "node:crypto";
import { BadRequestError, type RouteContext } from "../../kernel/index.ts";

/** Headers that say of which record a request is, besides its path. */
const CONDITIONS = ["if-match", "if-none-match"] as const;

/**
 * What tells a repetition from another request: method, route, parameters, query, conditions and body. A digest, since a
 * body may hold a password, and with the key as its secret, since a short one would be found by trying.
 * @throws BadRequestError where the handler reads the body as it comes; what reading the body throws
 */
export async function fingerprintOf(context: RouteContext, key: string): Promise<string> {
  const { route, request, params, search } = context;
  const hasBody = request.body !== undefined;
  if (hasBody && route.readsBody === "raw")
    throw new BadRequestError("This request cannot have an Idempotency-Key: its body is not kept. Send it without");
  const conditions = CONDITIONS.map((name) => request.headers[name] ?? null);
  const body = hasBody ? [await context.body()] : [];
  const said = canonical([route.method, route.path, params, search, conditions, body]);
  return createHmac("sha256", key).update(JSON.stringify(said)).digest("base64url");
}

/** The same data in one order of members: a client may write them down in another one when it tries again. */
function canonical(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => ({ [name]: canonical(member) }));
}
