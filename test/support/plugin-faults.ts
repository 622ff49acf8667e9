import { createPlugin, endpoint, type Plugin, string } from "keelson";
import { type PluginContext, type PluginOptions, token } from "keelson/plugin";

const noop = (): void => {};

/** Mistakes in one plugin: a description, the plugin's options, and the message of the start-up report. */
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
  [
    "a path that is none",
    { endpoints: { a: endpoint("/a/:b+/c", { handler: noop }) } },
    "not a method and a path such as",
  ],
  [
    "a body that is read in an unknown way",
    { endpoints: { a: endpoint("/a", { body: { as: "xml" } as never, handler: noop }) } },
    'endpoint "a": body.as must be "raw" or "multipart"',
  ],
  [
    "a limit of a body that is not a count",
    { endpoints: { a: endpoint("/a", { body: { as: "raw", bytes: -1 }, handler: noop }) } },
    'endpoint "a": body.bytes must be a whole number, 1 or more',
  ],
  [
    "a change of routes that is not a function",
    { setup: ({ routes }: PluginContext) => routes.onRoute({} as never) },
    "routes.onRoute takes a function",
  ],
  [
    "a change of what a route keeps",
    {
      endpoints: { a: endpoint("/a", { handler: noop }) },
      setup: ({ routes }: PluginContext) => routes.onRoute(() => ({ rules: ["everyone"] }) as never),
    },
    'routes.onRoute, for GET /a: there is no option "rules"',
  ],
  [
    "a policy without a name",
    { setup: ({ records }: PluginContext) => records.policy({ allows: noop } as never) },
    'policy "undefined": it has no name',
  ],
  [
    "a policy that says nothing",
    { setup: ({ records }: PluginContext) => records.policy({ name: "p" }) },
    'policy "p": it needs at least one of `allows` and `visible`',
  ],
  [
    "a misspelt part of a policy",
    { setup: ({ records }: PluginContext) => records.policy({ name: "p", allows: noop, visibel: noop } as never) },
    'policy "p": there is no option "visibel". Did you mean "visible"?',
  ],
  ...(["onChange", "onCommitted", "stamp", "validate"] as const).flatMap((verb): [string, object, string][] => [
    [
      `records.${verb} of what is not a function`,
      { setup: ({ records }: PluginContext) => records[verb](undefined as never) },
      `records.${verb}: it takes a function`,
    ],
    [
      `a misspelt option of records.${verb}`,
      { setup: ({ records }: PluginContext) => records[verb](noop as never, { applysTo: noop } as never) },
      `records.${verb}: there is no option "applysTo". Did you mean "appliesTo"?`,
    ],
  ]),
  ["fields for an entity that does not exist", { extend: { nothing: {} } }, 'extend: there is no entity "nothing"'],
  [
    "a field that an entity has",
    { extend: { note: { text: string } } },
    'extend: note has a field or relation "text" already',
  ],
  ["an unknown option of a plugin", { hook: {} }, 'there is no option "hook". Did you mean "hooks"?'],
  ["a start that is not a function", { start: true }, "start must be a function, not boolean"],
];

const one = (id: string, options: Omit<PluginOptions, "id">): Plugin => createPlugin({ id, ...options });

/** Mistakes in combinations of plugins: a description, the plugins, and the message of the start-up report. */
export const LIST_FAULTS: readonly [what: string, plugins: readonly Plugin[], problem: string][] = [
  [
    "two plugins that provide one capability",
    [one("acme/one", { provides: ["search"] }), one("acme/two", { provides: ["search"] })],
    'Plugins "acme/one" and "acme/two" both provide "search"; leave one of them out, or put yours in the place of the other with defaults.replace("acme/one", yours)',
  ],
  [
    "two plugins that offer one service",
    [one("acme/one", { services: { finder: () => 1 } }), one("acme/two", { services: { finder: () => 1 } })],
    'Service "finder" is registered twice, by the plugins "acme/one" and "acme/two"; leave one of them out',
  ],
  [
    "two plugins that define one hook",
    ["acme/one", "acme/two"].map((id) => one(id, { setup: ({ hooks }) => void hooks.define(token("acme:done")) })),
    'plugin "acme/two": the hook "acme:done" is defined by plugin "acme/one" already',
  ],
  [
    "two plugins that have one route",
    ["acme/one", "acme/two"].map((id) => one(id, { endpoints: { a: endpoint("/a", { handler: noop }) } })),
    'route GET /a of plugin "acme/two" collides with GET /a (a) of plugin "acme/one"',
  ],
  [
    "two plugins that recognise callers",
    ["acme/one", "acme/two"].map((id) => one(id, { getUser: () => null })),
    'Callers are recognised by plugin "acme/one" and plugin "acme/two"; only one of them can do that',
  ],
  [
    "a plugin that is there twice",
    [one("acme/one", {}), one("acme/one", {})],
    'Plugin "acme/one" is in the list twice',
  ],
  [
    "plugins that wait for each other",
    [one("acme/one", { after: ["acme/two"] }), one("acme/two", { after: ["acme/one"] })],
    "Plugins wait for each other in a circular way: acme/one -> acme/two -> acme/one",
  ],
  [
    "a setup that throws",
    [
      one("acme/one", {
        setup: () => {
          throw new RangeError("no");
        },
      }),
    ],
    'plugin "acme/one" failed in setup: RangeError: no',
  ],
];
