import { ConfigurationError } from "../../entity/index.ts";

/**
 * The path an adapter is told to answer under, without a slash at its end; undefined for none.
 * @throws ConfigurationError for what no request's path can begin with
 */
export function basePath(base: string | undefined): string | undefined {
  const path = base?.replace(/\/$/, "");
  if (path && !path.startsWith("/")) throw new ConfigurationError(`\`base\` "${base}" must be a path such as /v1`);
  return path || undefined;
}
