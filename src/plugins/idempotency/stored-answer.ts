import type { OperationScope } from "../../gate/index.ts";
import { AuthorizationError, BadRequestError, type KernelResponse } from "../../kernel/index.ts";
import { type Rights, rightsOf, usesNow } from "./rights-of.ts";

/** An answer as it is kept. */
interface KeptAnswer extends Pick<KernelResponse, "status" | "headers"> {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly rights: Rights;
}

/** Headers of one response only: the request id, and cookies that log a user in. */
const OWN: ReadonlySet<string> = new Set(["x-request-id", "set-cookie"]);

/**
 * An answer as text to keep.
 * @param added headers that the answer is given on its way out
 * @throws BadRequestError for one that is streamed, or too large
 */
export function writeAnswer(
  { status, headers: own, body }: KernelResponse,
  added: KernelResponse["headers"],
  rights: Rights,
  limit: number,
): string {
  const headers = Object.fromEntries(Object.entries({ ...added, ...own }).filter(([name]) => !OWN.has(name)));
  const kept: KeptAnswer = { status, headers, rights };
  if (body === null) return JSON.stringify(kept);
  if (typeof body !== "string" && !(body instanceof Uint8Array)) throw unkept("is streamed");
  if (Buffer.byteLength(body) > limit) throw unkept(`is larger than ${limit} bytes`);
  // JSON may come as bytes, and is text all the same.
  const isText = typeof body === "string" || String(own["content-type"]).startsWith("application/json");
  const bytes = Buffer.from(body as Uint8Array);
  return JSON.stringify(isText ? { ...kept, text: bytes.toString() } : { ...kept, base64: bytes.toString("base64") });
}

function unkept(why: string): Error {
  return new BadRequestError(
    `This request cannot have an Idempotency-Key, since its answer ${why}, and nothing was changed. Send it without`,
  );
}

/**
 * A stored response, for the same caller.
 * @throws AuthorizationError when the caller may no longer see what it shows
 */
export async function readAnswer(text: string, scope: OperationScope): Promise<KernelResponse> {
  const { status, headers, text: body, base64, rights } = JSON.parse(text) as KeptAnswer;
  const now = await rightsOf(scope, rights.entities, new Map(Object.entries(rights.records ?? {})));
  const uses = await usesNow(scope, rights.uses ?? []);
  const isLost = uses.some(({ allowed }, index) => !allowed && rights.uses?.[index]?.allowed === true);
  if (isLost || now.digest !== rights.digest || (rights.records !== undefined && now.seen !== rights.seen))
    throw new AuthorizationError(
      "The request was carried out before; what you may see has changed since, so its answer is not repeated",
    );
  return {
    status,
    headers: { ...headers, "x-request-id": scope.requestId, "idempotency-replayed": "true" },
    body: body ?? (base64 === undefined ? null : Buffer.from(base64, "base64")),
  };
}
