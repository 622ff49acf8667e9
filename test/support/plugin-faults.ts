import { endpoint } from "keelson";
import type { PluginContext } from "keelson/plugin";

const noop = (): void => {};

/** What can be wrong with a plugin: what it is, options of such a plugin, and what the start-up report says. */
export const PLUGIN_FAULTS: readonly [what: string, options: object, problem: string][] = [
  ["a setup that returns a promise", { async setup() {} }, "setup returned a promise"],
  [
    "a hook that does not exist",
    { hooks: { "operation:authorise": noop } },
    'there is no hook "operation:authorise"; a plugin that runs hooks of its own names them with hooks.define(). Did you mean "operation:authorize"?',
  ],
  [
    "a hook that is not a function",
    { hooks: { "request:start": {} } },
    'hook "request:start" takes a function, not object',
  ],
  ["a hook that is null", { hooks: { "request:start": null } }, 'hook "request:start" takes a function, not null'],
  [
    "an unknown hook option",
    { setup: ({ hooks }: PluginContext) => hooks.on("request:start", noop, { timeOut: 1 } as never) },
    'hook "request:start": there is no option "timeOut". Did you mean "timeout"?',
  ],
  [
    "a hook option of another type",
    { setup: ({ hooks }: PluginContext) => hooks.on("operation:narrow", noop, { appliesTo: "note" } as never) },
    'hook "operation:narrow": appliesTo must be a function, not string',
  ],
  [
    "an endpoint without a handler",
    { endpoints: { a: endpoint("/a", {} as never) } },
    'endpoint "a": it has no handler',
  ],
  [
    "a misspelt option of an endpoint",
    { endpoints: { a: { path: "/a", rule: ["admin"], handler: noop } } },
    'endpoint "a": there is no option "rule". Did you mean "rules"?',
  ],
  [
    "rules of an endpoint that are not a list",
    { endpoints: { a: endpoint("/a", { rules: "everyone" as never, handler: noop }) } },
    'endpoint "a": rules must be a list of rules',
  ],
  [
    "a route without a handler",
    { setup: ({ routes }: PluginContext) => routes.add({ method: "GET", path: "/a", action: "a" } as never) },
    "route GET /a: it has no handler",
  ],
  [
    "a misspelt option of a route",
    {
      setup: ({ routes }: PluginContext) =>
        routes.add({ method: "GET", path: "/a", action: "a", rule: [], handler: noop } as never),
    },
    'route GET /a: there is no option "rule". Did you mean "rules"?',
  ],
  ["an unknown option of a plugin", { hook: {} }, 'there is no option "hook". Did you mean "hooks"?'],
  ["a start that is not a function", { start: true }, "start must be a function, not boolean"],
];
