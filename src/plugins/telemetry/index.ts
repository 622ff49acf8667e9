// telemetry: what an app does, as spans of OpenTelemetry and a histogram of requests, with the names of its semantic
// conventions. Spans say what was done to which entity; no value of a record, no query and no message of an error is in them.
import { createPlugin, type Plugin } from "../../gate/index.ts";
import { type KernelRequest, unknownKeys } from "../../kernel/index.ts";
import { createTracer, type Recording, tracedDriver } from "./create-tracer.ts";
import { createSpans, loadApi } from "./spans.ts";
import { measureRequests, patternOf, type TracedRequest } from "./trace-request.ts";

// Hooks: request:end (route and id of the request), route:around (the user, where that is wanted). Around drivers: statements.
// Service: kernel.tracer.

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Whether each function of an operation's hooks has a span. @default true */
  readonly phases?: boolean | undefined;
  /** Whether each statement has a span: what was done to which entity, and never a value. @default true */
  readonly statements?: boolean | undefined;
  /** Whether the duration of requests is measured: the histogram `http.server.request.duration`. @default true */
  readonly metrics?: boolean | undefined;
  /** Whether spans have the ids of records and of runs of workflows. @default false */
  readonly ids?: boolean | undefined;
  /** Whether the span of a request has the id of its user. @default false */
  readonly userId?: boolean | undefined;
}

const DEFAULTS = { phases: true, statements: true, metrics: true, ids: false, userId: false };
const VERSION = "1.0.0";

/**
 * Spans of requests, operations, their phases, statements, remote calls and workflows, and how long requests take. They go to
 * whatever the process has registered with `@opentelemetry/api`; without the package, the log has a warning and nothing is
 * recorded. Put it last in the list of plugins: then the span of a statement has all that other plugins do about it.
 * @param options what is recorded
 * @example keelson({ entities, plugins: [telemetry()] })
 */
export function telemetry(options: TelemetryOptions = {}): Plugin {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings: typeof DEFAULTS = { ...DEFAULTS, ...Object.fromEntries(given) };
  return createPlugin({
    id: "telemetry",
    version: VERSION,
    setup({ hooks, config, problem, provide }) {
      const known = new WeakMap<KernelRequest, TracedRequest>();
      const state: { recording: Recording | undefined } = { recording: undefined };
      provide("kernel.tracer", () => createTracer(() => state.recording, known, settings));
      for (const sentence of unknownKeys(options, Object.keys(DEFAULTS))) problem(`telemetry: ${sentence}`);
      for (const [name, value] of given)
        if (Object.hasOwn(DEFAULTS, name) && typeof value !== "boolean")
          problem(`telemetry: \`${name}\` is true or false`);
      hooks.on("request:end", ({ request, requestId, route }) => {
        const traced = known.get(request);
        traced?.span.setAttribute("keelson.request.id", requestId);
        if (traced !== undefined && route !== undefined)
          traced.route = patternOf(route, request.base, config.apiPrefix);
      });
      if (settings.userId)
        hooks.on("route:around", ({ request, scope: { principal } }) => {
          if (principal.kind === "user") known.get(request)?.span.setAttribute("enduser.id", principal.user.id);
        });
      return state;
    },
    wrapDriver: (driver, _context, state) =>
      settings.statements ? tracedDriver(driver, () => state.recording?.spans) : driver,
    async start({ log }, state) {
      const api = await loadApi(log);
      if (api === undefined) return;
      const measure = settings.metrics ? measureRequests(api, VERSION) : () => {};
      state.recording = { spans: createSpans(api, VERSION), measure };
    },
  });
}
