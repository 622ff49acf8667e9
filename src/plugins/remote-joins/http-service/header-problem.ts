/** A name is a token, and a value visible text (RFC 9110 sections 5.1 and 5.5). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** They belong to one connection (RFC 9110 section 7.6.1), or say where the request goes and what its body is. */
const OF_THE_CONNECTION = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Why no request may have a header of this name; undefined when it may. */
export function headerNameProblem(name: unknown): string | undefined {
  if (typeof name !== "string" || !NAME.test(name)) return "is no name of a header";
  return OF_THE_CONNECTION.has(name.toLowerCase()) ? "is for the connection to say" : undefined;
}

/** Why a header cannot have this value; undefined when it can. The value is not in it, because it may be a secret. */
export function headerValueProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return "must be text";
  return VALUE.test(value) ? undefined : "has a character that no header can have";
}

/** Why these headers cannot be sent; undefined when they can. */
export function headersProblem(headers: unknown): string | undefined {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return "must be an object";
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerNameProblem(name) ?? headerValueProblem(value);
    if (problem !== undefined) return `"${name}" ${problem}`;
  }
  return undefined;
}
