import { PluginError, type RemoteCaller, type RemoteFetchOptions } from "../../../kernel/index.ts";
import { headersProblem, headerValueProblem } from "./header-problem.ts";
import type { HttpServiceOptions } from "./http-service-options.ts";

/**
 * Headers of the requests of one call: this app's own, those of the caller's that may be passed on, and those of the trace,
 * unless one of the others has that name.
 * @throws PluginError when the app's function returns what cannot be sent, or what is passed on as well
 */
export async function requestHeaders(
  { headers = {}, forward = [] }: Pick<HttpServiceOptions, "headers" | "forward">,
  caller: RemoteCaller | undefined,
  traceHeaders: RemoteFetchOptions["traceHeaders"] = {},
): Promise<Headers> {
  const own = typeof headers === "function" ? await headers() : headers;
  const problem = headersProblem(own);
  if (problem !== undefined) throw new PluginError(`\`headers\`: ${problem}`);
  const result = new Headers({ accept: "application/json" });
  for (const [name, value] of Object.entries(own)) result.set(name, value);
  for (const name of forward) {
    // Neither may stand in for the other: an unknown caller would act with the rights of the app.
    if (Object.keys(own).some((given) => given.toLowerCase() === name.toLowerCase()))
      throw new PluginError(`"${name}" is in \`headers\` and in \`forward\`; it is this app's or the caller's`);
    const value = caller?.header(name);
    if (value !== undefined && headerValueProblem(value) === undefined) result.set(name, value);
  }
  for (const [name, value] of Object.entries(traceHeaders)) if (!result.has(name)) result.set(name, value);
  return result;
}
