import type { ParameterDescription, Route, RouteDescription } from "../../kernel/index.ts";
import type { KeyRules } from "./key-rules-of.ts";

const HEADER: ParameterDescription = Object.freeze({
  name: "Idempotency-Key",
  in: "header",
  schema: { type: "string", minLength: 1, maxLength: 257, examples: ["5a0b7ff9-2c5c-4d0a-a3f4-6f0b8f0d2f7e"] },
  description:
    "Unique to one request of one caller, such as a UUID. Sent again with the same key, the request is not carried out again: the first answer comes again, with `Idempotency-Replayed`.",
});

/** What documentation says about the keys of a route. */
export function noteOf(rules: KeyRules, route: Route): Pick<RouteDescription, "errors" | "parameters"> | undefined {
  if (!rules.takes(route)) return undefined;
  return { parameters: [{ ...HEADER, required: rules.requires(route) }], errors: [409, 422] };
}
