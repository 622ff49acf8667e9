import { ConfigurationError } from "../../../entity/index.ts";

/** Stands for the handler of an action as long as it has none. */
export function noHandler(): never {
  throw new ConfigurationError("The action has no handler");
}
