// idempotency: a request that carries an `Idempotency-Key` is carried out once, and a repetition of it gets the same answer.
// IETF draft-ietf-httpapi-idempotency-key-header; docs/adr/0027.
import type { AnyEntity } from "../../entity/index.ts";
import {
  createPlugin,
  type ParameterDescription,
  type Plugin,
  type PluginContext,
  type Route,
  type RouteDescription,
  RouteNotes,
  schemaFromEntities,
} from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { answerOnce } from "./answer-once.ts";
import { keepSwept, keyEntity, type Sweeping } from "./idempotency-keys.ts";
import { completeOptions, type IdempotencyOptions, type KeyRules, KNOWN, keyRulesOf } from "./idempotency-options.ts";

const HEADER: ParameterDescription = Object.freeze({
  name: "Idempotency-Key",
  in: "header",
  shared: true,
  schema: { type: "string", minLength: 1, maxLength: 257, examples: ["5a0b7ff9-2c5c-4d0a-a3f4-6f0b8f0d2f7e"] },
  description:
    "Unique to one request of one caller, such as a UUID. Sent again with the same key, the request is not carried out again: the first answer comes again, with `Idempotency-Replayed`.",
});

/** What documentation says about the keys of a route. */
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

// Hooks: route:around. Service used: openapi.routes.

/**
 * Keys of requests: what is sent again with the same `Idempotency-Key` is not carried out again.
 * @param options how long keys are kept, and where they are required
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
  /** Those of all routes, once the app has started. */
  rules: KeyRules;
  sweeping: Sweeping | undefined;
}

/** Whether an answer may show what comes from an encrypted field. */
function holdEncrypted(entities: readonly AnyEntity[]): boolean {
  return entities.some(({ fields }) => Object.values(fields).some(({ encrypted }) => encrypted !== undefined));
}

/** Another plugin keeps the notes, and need not be there. */
function describeKeys({ tryUse }: PluginContext, rules: KeyRules): void {
  tryUse(RouteNotes)?.add((route) => noteOf(rules, route));
}
