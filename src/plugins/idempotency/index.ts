// idempotency: a request with an `Idempotency-Key` runs once, and its repetitions get the stored response.
// IETF draft-ietf-httpapi-idempotency-key-header; docs/adr/0027.
import type { AnyEntity } from "../../entity/index.ts";
import {
  createPlugin,
  type ParameterDescription,
  type Plugin,
  type PluginContext,
  ResponseRights,
  type Route,
  type RouteDescription,
  RouteNotes,
  schemaFromEntities,
} from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { answerOnce } from "./answer-once.ts";
import { keepSwept, keyEntity, type Sweeping } from "./idempotency-keys.ts";
import { completeOptions, type IdempotencyOptions, type KeyRules, KNOWN, keyRulesOf } from "./idempotency-options.ts";
import { responseRights } from "./note-rights.ts";

const HEADER: ParameterDescription = Object.freeze({
  name: "Idempotency-Key",
  in: "header",
  shared: true,
  schema: { type: "string", minLength: 1, maxLength: 257, examples: ["5a0b7ff9-2c5c-4d0a-a3f4-6f0b8f0d2f7e"] },
  description:
    "Unique to one request of one caller, such as a UUID. Sent again with the same key, the request is not carried out again: the first answer comes again, with `Idempotency-Replayed`.",
});

/** The documentation of a route's keys. */
function noteOf(rules: KeyRules, route: Route): Pick<RouteDescription, "errors" | "parameters"> | undefined {
  if (!rules.takes(route)) return undefined;
  return { parameters: [{ ...HEADER, required: rules.requires(route) }], errors: [409, 422] };
}

export {
  IdempotencyKeyInUseError,
  IdempotencyKeyRequiredError,
  IdempotencyKeyReusedError,
} from "./idempotency-keys.ts";
export type { IdempotencyOptions } from "./idempotency-options.ts";

// Hooks: route:around. Service: idempotency.rights. Service used: openapi.routes.

/**
 * Adds idempotency keys: a request that is repeated with the same `Idempotency-Key` does not run again.
 * @param options how long keys are stored, and where they are required
 * @throws ConfigurationError for numbers below 1
 * @example
 * keelson({ entities, plugins: [idempotency({ required: ["order.create"] })] })
 */
export function idempotency(options: IdempotencyOptions = {}): Plugin {
  const settings = completeOptions(options);
  return createPlugin({
    id: "idempotency",
    version: "1.0.0",
    requires: ["rules"],
    schema: schemaFromEntities([keyEntity(settings.encrypted)], { internal: true }),
    setup(context) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) context.problem(`idempotency: ${sentence}`);
      if (!settings.encrypted && holdEncrypted(context.entities.entities))
        context.problem("fields are encrypted, so kept answers have to be, too: idempotency({ encrypted: true })");
      context.provide(ResponseRights, () => responseRights);
      const state: KeysState = { rules: keyRulesOf([], { required: [], withoutTransaction: [] }), sweeping: undefined };
      context.hooks.on(
        "route:around",
        answerOnce(context, settings, () => state.rules),
      );
      return state;
    },
    start(context, state) {
      state.rules = keyRulesOf(context.routes.list(), settings);
      describeKeys(context, state.rules);
      state.sweeping = keepSwept(context, settings.ttlMs);
    },
    stop: (_context, { sweeping }) => sweeping?.end(),
  });
}

interface KeysState {
  /** The rules of all routes, once the app has started. */
  rules: KeyRules;
  sweeping: Sweeping | undefined;
}

/** Whether entities have encrypted fields, whose values responses may contain. */
function holdEncrypted(entities: readonly AnyEntity[]): boolean {
  return entities.some(({ fields }) => Object.values(fields).some(({ encrypted }) => encrypted !== undefined));
}

/** Adds notes to the documentation, if the plugin for it is present. */
function describeKeys({ tryUse }: PluginContext, rules: KeyRules): void {
  tryUse(RouteNotes)?.add((route) => noteOf(rules, route));
}
