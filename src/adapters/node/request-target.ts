/** The path and query of a request line; absolute-form targets (`GET http://host/path`) count too (RFC 9112 section 3.2.2). */
export function originForm(target = "/"): string {
  return target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
}

/** The part of a raw path and query below `base` (a path without trailing slash); undefined when it is elsewhere. */
export function pathBelow(base: string, url: string): string | undefined {
  if (!url.startsWith(base)) return undefined;
  const rest = url.slice(base.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : undefined;
}
