import type { AnyEntity } from "../../../entity/index.ts";

/** What an action needs of a field. */
export interface WantedColumn {
  /** Names of field kinds that will do. */
  readonly kind: string;
  /** Whether it must be able to be empty. @default either way */
  readonly optional?: true;
  /** Whether somebody must be able to see it. @default either way */
  readonly shown?: true;
}

/** What is wrong with the field an action works on, as the end of a sentence; undefined when nothing is. */
export function columnProblem(entity: AnyEntity, name: string, wanted: WantedColumn): string | undefined {
  const field = Object.hasOwn(entity.fields, name) ? entity.fields[name] : undefined;
  const what = `${wanted.optional ? "an optional" : "a"} ${wanted.kind} field`;
  if (field === undefined) return `needs ${what} "${name}", and there is none`;
  const but = (is: string): string => `needs ${what} "${name}", and that one is ${is}`;
  if (field.kind.name !== wanted.kind) return but(`of the kind ${field.kind.name}`);
  if (wanted.optional === true && !field.optional) return but("not optional");
  if (wanted.shown === true && entity.hidden.includes(name)) return but("shown to nobody");
  return field.encrypted === undefined ? undefined : but("encrypted");
}
