import { ConfigurationError } from "../../entity/index.ts";

/**
 * The path and query of a request line; also accepts absolute-form targets (`GET http://host/path`, RFC 9112 section
 * 3.2.2).
 */
export function originForm(target = "/"): string {
  return target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
}

/** The part of a raw path and query below `base` (a path without trailing slash); undefined for other paths. */
export function pathBelow(base: string, url: string): string | undefined {
  if (!url.startsWith(base)) return undefined;
  const rest = url.slice(base.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : undefined;
}

/**
 * The path that an adapter serves, without a trailing slash; undefined for the root.
 * @throws ConfigurationError for a text that is not a path
 */
export function basePath(base: string | undefined): string | undefined {
  const path = base?.replace(/\/$/, "");
  if (path && !path.startsWith("/")) throw new ConfigurationError(`\`base\` "${base}" must be a path such as /v1`);
  return path || undefined;
}
