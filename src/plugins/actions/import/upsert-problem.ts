import type { AnyEntity } from "../../../entity/index.ts";
import { didYouMean } from "../../../kernel/index.ts";
import { isSameKey, type UniqueKey } from "./import-keys.ts";

/** What keeps fields from telling records apart, as the end of a sentence; undefined when nothing does. */
export function upsertProblem(entity: AnyEntity, key: UniqueKey): string | undefined {
  const names = Object.keys(entity.columns);
  const unknown = key.find((name) => !Object.hasOwn(entity.columns, name));
  if (unknown !== undefined) {
    return `upsertBy names "${unknown}", which is no field.${didYouMean(unknown, names)}`;
  }
  const hidden = key.find((name) => entity.hidden.includes(name));
  if (hidden !== undefined) return `upsertBy names "${hidden}", which nobody sees`;
  if (isUnique(entity, key)) return undefined;
  return `upsertBy needs a unique field, or the fields of a .unique([…]), and ${key.map((name) => `"${name}"`).join(", ")} is neither`;
}

function isUnique({ columns, uniques }: AnyEntity, key: UniqueKey): boolean {
  const [name] = key;
  if (key.length === 1 && Object.values(columns).some((column) => column.unique && (column.of ?? column.name) === name))
    return true;
  return uniques.some((fields) => isSameKey(fields, key));
}
