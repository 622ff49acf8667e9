/**
 * Whether `If-None-Match` names a tag (RFC 9110, 13.1.2): weakly, as answers that save bytes may.
 * @param header as it was sent; several lines are one list
 */
export function namesTag(header: string | readonly string[] | undefined, etag: string): boolean {
  const names = (typeof header === "string" ? header : (header ?? []).join()).split(",").map((name) => name.trim());
  return names.some((name) => name === "*" || name.replace(/^W\//, "") === etag);
}
