import type { AnyEntity } from "../../entity/index.ts";

/** Which fields a caller may see and touch. Query parsing, writes and the serializer use the same object. */
export interface FieldMask {
  readonly readable: ReadonlySet<string>;
  readonly writable: ReadonlySet<string>;
  readonly filterable: ReadonlySet<string>;
  readonly sortable: ReadonlySet<string>;
}

/**
 * The widest mask an entity allows anybody: password and omitted fields are never readable, and neither they nor
 * encrypted ones can be filtered or sorted on (security.md item 3). Plugins only ever narrow it.
 */
export function baseMask(entity: AnyEntity): FieldMask {
  const readable = new Set<string>();
  const writable = new Set<string>();
  const filterable = new Set<string>();
  const sortable = new Set<string>();
  for (const { name, role, kind, field } of Object.values(entity.columns)) {
    const hidden = field !== undefined && (field.omit || field.password !== undefined);
    if (!hidden) readable.add(name);
    if (role === "foreignKey" || (role === "field" && field?.readonly !== true)) writable.add(name);
    if (hidden || field?.encrypted) continue;
    filterable.add(name);
    if (kind.sortable) sortable.add(name);
  }
  return Object.freeze({ readable, writable, filterable, sortable });
}
