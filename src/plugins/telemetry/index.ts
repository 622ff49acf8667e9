// telemetry: OpenTelemetry spans of an app and a histogram of its requests, named after the semantic conventions. Spans
// name the operation and the entity. They contain no record values, queries or error messages.
import { createPlugin, type Plugin } from "../../gate/index.ts";
import { type KernelRequest, unknownKeys } from "../../kernel/index.ts";
import { createTracer, type Recording, tracedDriver } from "./create-tracer.ts";
import { createSpans, loadApi } from "./spans.ts";
import { measureRequests, patternOf, type TracedRequest } from "./trace-request.ts";

// Hooks: request:end (the request's route and id), route:around (the user, if enabled). Wraps drivers: statements.
// Service: kernel.tracer.

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Whether each hook function of an operation has a span. @default true */
  readonly phases?: boolean | undefined;
  /** Whether each statement has a span, with the operation and the entity but no values. @default true */
  readonly statements?: boolean | undefined;
  /** Whether the duration of requests is measured: the histogram `http.server.request.duration`. @default true */
  readonly metrics?: boolean | undefined;
  /** Whether spans contain ids of records and workflow runs. @default false */
  readonly ids?: boolean | undefined;
  /** Whether the span of a request contains the id of its user. @default false */
  readonly userId?: boolean | undefined;
}

const DEFAULTS = { phases: true, statements: true, metrics: true, ids: false, userId: false };
const VERSION = "1.0.0";

/**
 * Records spans of requests, operations, hooks, statements, remote calls and workflows, and the duration of requests,
 * with the SDK that the process has registered with `@opentelemetry/api`. Without that package, a warning is logged and
 * nothing is recorded. Put this plugin last in the list, so that the span of a statement includes the work of other
 * plugins.
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
