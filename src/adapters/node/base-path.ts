import { ConfigurationError } from "../../entity/index.ts";

/**
 * The path that an adapter serves, without a trailing slash; undefined for the root.
 * @throws ConfigurationError for a text that no request's path can begin with
 */
export function basePath(base: string | undefined): string | undefined {
  const path = base?.replace(/\/$/, "");
  if (path && !path.startsWith("/")) throw new ConfigurationError(`\`base\` "${base}" must be a path such as /v1`);
  return path || undefined;
}
