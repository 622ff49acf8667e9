/**
 * Whether `If-None-Match` names a tag, by weak comparison (RFC 9110 section 13.1.2).
 * @param header as it was sent; several lines are one list
 */
export function namesTag(header: string | readonly string[] | undefined, etag: string): boolean {
  const names = (typeof header === "string" ? header : (header ?? []).join()).split(",").map((name) => name.trim());
  return names.some((name) => name === "*" || name.replace(/^W\//, "") === etag);
}
