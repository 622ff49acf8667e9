import { BadRequestError, type KernelRequest } from "../../kernel/index.ts";

/** Visible ASCII but for what ends a text in a header, at most 255; in quotation marks or not. */
const VALUE = /^(?:"([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255}))$/;

/**
 * The key of a request: the draft wants it in quotation marks (RFC 9651, section 3.3.3), most clients send it without.
 * Undefined when there is none.
 * @throws BadRequestError for one that is malformed, and for several
 */
export function readKey({ headers }: KernelRequest): string | undefined {
  const value = headers["idempotency-key"];
  if (value === undefined) return undefined;
  const found = VALUE.exec(typeof value === "string" ? value.trim() : value.join(", "));
  const key = found?.[1] ?? found?.[2];
  if (key === undefined)
    throw new BadRequestError(
      "Idempotency-Key takes 1 to 255 visible ASCII characters without commas, quotation marks and backslashes, such as a UUID",
    );
  return key;
}
