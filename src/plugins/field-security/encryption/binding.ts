import { lengthPrefixed } from "./length-prefixed.ts";

/** The place a value belongs to. A bound value opens nowhere else. */
export interface BindingContext {
  /** Name of the entity. */
  readonly entity: string;
  /** Name of the field. */
  readonly field: string;
  /** Id of the record. */
  readonly id: string;
}

const NOTHING = Buffer.alloc(0);

function isPart(part: unknown): part is string {
  return typeof part === "string" && part !== "" && part.isWellFormed();
}

/**
 * The additional authenticated data of a value. It is not stored but made again for reading, so the stored form is the
 * same with it and without. Whether there is any is a property of the key: a value does not say.
 * @returns undefined when the key binds and the context does not say where
 */
export function additionalDataOf(
  key: { readonly id: string; readonly bind: boolean },
  context: BindingContext | undefined,
): Buffer | undefined {
  if (!key.bind) return NOTHING;
  if (context === undefined) return undefined;
  const { entity, field, id } = context;
  return [entity, field, id].every(isPart) ? lengthPrefixed(["keelson1", key.id, entity, field, id]) : undefined;
}
