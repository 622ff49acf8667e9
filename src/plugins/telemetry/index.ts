// telemetry: what an app does, as spans of OpenTelemetry and a histogram of requests, with the names of its semantic
// conventions. Spans say what was done to which entity; no value of a record, no query and no message of an error is in them.
import { createPlugin, type Plugin } from "../../gate/index.ts";
import { type KernelRequest, unknownKeys } from "../../kernel/index.ts";
import { createTracer, type Recording } from "./create-tracer.ts";
import { loadApi } from "./load-api.ts";
import { measureRequests } from "./measure-requests.ts";
import { createSpans } from "./spans.ts";
import type { TelemetryOptions } from "./telemetry-options.ts";
import { patternOf, type TracedRequest } from "./trace-request.ts";
import { tracedDriver } from "./traced-driver.ts";

export type { TelemetryOptions } from "./telemetry-options.ts";

// Hooks: request:end (route and id of the request), route:around (the user, where that is wanted). Service: kernel.tracer.

const KNOWN = ["phases", "statements", "metrics", "ids", "userId"];
const VERSION = "1.0.0";

/**
 * Spans of requests, operations, their phases, statements, remote calls and workflows, and how long requests take. They go to
 * whatever the process has registered with `@opentelemetry/api`; without the package, a warning says so, and that is all.
 * Put it last in the list of plugins: then the span of a statement has all that other plugins do about it.
 * @param options what is recorded
 * @example keelson({ entities, plugins: [telemetry()] })
 */
export function telemetry(options: TelemetryOptions = {}): Plugin {
  const given = { ...options };
  const { statements = true, metrics = true, userId = false } = given;
  const known = new WeakMap<KernelRequest, TracedRequest>();
  let recording: Recording | undefined;
  return createPlugin({
    id: "telemetry",
    version: VERSION,
    services: { "kernel.tracer": () => createTracer(() => recording, known, given) },
    setup({ hooks, config, problem }) {
      for (const sentence of unknownKeys(given, KNOWN)) problem(`telemetry: ${sentence}`);
      for (const [name, value] of Object.entries(given))
        if (KNOWN.includes(name) && value !== undefined && typeof value !== "boolean")
          problem(`telemetry: \`${name}\` is true or false`);
      hooks.on("request:end", ({ request, requestId, route }) => {
        const traced = known.get(request);
        traced?.span.setAttribute("keelson.request.id", requestId);
        if (traced !== undefined && route !== undefined)
          traced.route = patternOf(route, request.base, config.apiPrefix);
      });
      if (userId)
        hooks.on("route:around", ({ request, scope: { principal } }) => {
          if (principal.kind === "user") known.get(request)?.span.setAttribute("enduser.id", principal.user.id);
        });
    },
    ...(statements ? { wrapDriver: (driver) => tracedDriver(driver, () => recording?.spans) } : {}),
    async start({ log }) {
      const api = await loadApi(log);
      if (api === undefined) return;
      const measure = metrics ? measureRequests(api, VERSION) : () => {};
      recording = { spans: createSpans(api, VERSION), measure };
    },
  });
}
