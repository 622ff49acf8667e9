import type { ColumnDefinition } from "./entity-definition.ts";
import type { FieldDefinition } from "./field-definition.ts";
import type { FieldKind } from "./kind.ts";
import { datetimeKind, idKind, intKind } from "./kinds/index.ts";
import type { RelationDefinition } from "./relation.ts";

/** Name of the column that a belongsTo relation owns. */
export function foreignKeyOf(name: string, relation: RelationDefinition): string {
  return relation.foreignKey ?? `${name}Id`;
}

function own(name: string, kind: FieldKind, role: ColumnDefinition["role"], unique = false): ColumnDefinition {
  return Object.freeze({ name, kind, role, optional: false, unique });
}

/** The stored columns of an entity, in a fixed order. Names that clash are reported by the builder. */
export function columnsOf(
  declared: readonly (readonly [string, FieldDefinition | RelationDefinition])[],
  options: { readonly timestamps: boolean; readonly versioned: boolean },
): Record<string, ColumnDefinition> {
  const columns: ColumnDefinition[] = [own("id", idKind as FieldKind, "id", true)];
  for (const [name, member] of declared) {
    if ("kind" in member) {
      const { kind, optional, unique } = member;
      columns.push(Object.freeze({ name, kind, role: "field", optional, unique, field: member }));
    } else if (member.type === "belongsTo") {
      const { optional, unique } = member;
      const kind = idKind as FieldKind;
      columns.push(
        Object.freeze({ name: foreignKeyOf(name, member), kind, role: "foreignKey", optional, unique, relation: name }),
      );
    }
  }
  if (options.timestamps) {
    const kind = datetimeKind as FieldKind;
    columns.push(own("createdAt", kind, "createdAt"), own("updatedAt", kind, "updatedAt"));
  }
  if (options.versioned) columns.push(own("version", intKind as FieldKind, "version"));
  return Object.freeze(Object.fromEntries(columns.map((column) => [column.name, column])));
}
