import { isKeelsonError } from "../../../entity/index.ts";
import type { ActionDefinition } from "./action-definition.ts";

/** The definition behind whatever was attached, or what is wrong with it. */
export function definitionOf(value: unknown): ActionDefinition | string {
  if (typeof value === "function") return definitionOfPrebuilt(value as () => unknown);
  const held = (value as { definition?: unknown } | null | undefined)?.definition ?? value;
  if (typeof (held as Partial<ActionDefinition> | null | undefined)?.handler === "function")
    return held as ActionDefinition;
  return "is neither an action nor an object with a handler";
}

/** A prebuilt action that was attached without being called. */
function definitionOfPrebuilt(prebuilt: () => unknown): ActionDefinition | string {
  try {
    const made = prebuilt();
    return typeof made === "function" ? "is a function that gives no action" : definitionOf(made);
  } catch (error) {
    return isKeelsonError(error) ? error.message : "is a function that gives no action";
  }
}
