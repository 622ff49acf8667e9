import type { OperationScope } from "../../gate/index.ts";
import { AuthorizationError, BadRequestError, type KernelResponse } from "../../kernel/index.ts";
import { hasStill, type Rights } from "./rights.ts";

/** A stored response. */
interface KeptAnswer extends Pick<KernelResponse, "status" | "headers"> {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly rights: Rights;
}

/** Headers that are not stored: the request id, and cookies, which may log a user in. */
const OWN: ReadonlySet<string> = new Set(["x-request-id", "set-cookie"]);

/**
 * Serialises a response for storage.
 * @param added headers that are added to the response when it is sent
 * @throws BadRequestError for a response that is streamed or too large
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
  // JSON may be bytes, but is stored as text.
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
 * Restores a stored response, for the same caller.
 * @throws AuthorizationError when the caller may no longer see its content
 */
export async function readAnswer(text: string, scope: OperationScope): Promise<KernelResponse> {
  const { status, headers, text: body, base64, rights } = JSON.parse(text) as KeptAnswer;
  if (!(await hasStill(scope, rights)))
    throw new AuthorizationError(
      "The request was carried out before; its answer shows what you may not read now, so it is not repeated",
    );
  return {
    status,
    headers: { ...headers, "x-request-id": scope.requestId, "idempotency-replayed": "true" },
    body: body ?? (base64 === undefined ? null : Buffer.from(base64, "base64")),
  };
}
