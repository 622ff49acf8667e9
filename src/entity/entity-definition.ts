import type { GivenMetadata } from "./base/metadata.ts";
import type { AnyField, FieldFlag } from "./field-modifiers.ts";
import type { JsonPath } from "./kinds/json.ts";
import type { FieldDefinition, FieldKind, RuleObject } from "./kinds/kind.ts";
import type { AnyRelation, RelationDefinition } from "./relation.ts";

/** The four kinds of access that rules control. */
export type Access = "create" | "read" | "update" | "delete";
/** Rule names per access. One rule of a list must pass; an empty list or a missing key denies. */
export type EntityRules = { readonly [K in Access]?: readonly string[] };

/** The `fields` argument of `entity(name, fields)`. */
export type FieldMap = Readonly<Record<string, AnyField | AnyRelation>>;

/**
 * The source of new ids: Keelson before the record is stored, the database (a sequence, a default), or the caller, who
 * must supply it. "parts": the id is composed of values of the record.
 */
export type IdSource = "keelson" | "database" | "caller" | "parts";

/** A predicate over several fields of one record. */
export interface CrossFieldValidator {
  readonly test: (data: never, context: CrossFieldContext) => unknown;
  readonly message: string;
  readonly operations: readonly ("create" | "update")[];
  /** The fields that the message is for; it is reported at the first one. */
  readonly fields: readonly string[];
}

/** The context of a cross-field validator. */
export interface CrossFieldContext {
  readonly operation: "create" | "update";
  /** The user who writes; `null` for anonymous callers and for the system. */
  readonly user: unknown;
}

/** The role of a column. */
export type ColumnRole = "id" | "field" | "foreignKey" | "createdAt" | "updatedAt" | "version" | "blindIndex" | "words";

/** One stored column of an entity: a field, a foreign key, or a column that the framework maintains. */
export interface ColumnDefinition {
  readonly name: string;
  /** The column's name in the database. */
  readonly stored: string;
  /** Whether its table existed before the app: its values may then have forms that Keelson does not write. */
  readonly existing?: boolean;
  readonly kind: FieldKind;
  /** The path into its JSON, in conditions on JSON paths. */
  readonly path?: JsonPath;
  readonly role: ColumnRole;
  readonly optional: boolean;
  readonly unique: boolean;
  /** The field that declares it, when `role` is "field". */
  readonly field?: FieldDefinition;
  /** The belongsTo relation that owns it, when `role` is "foreignKey". */
  readonly relation?: string;
  /** The columns that it is composed of, when `role` is "id" and the id has no column. */
  readonly parts?: readonly ColumnDefinition[];
  /** The field that it is derived from, when `role` is "blindIndex" or "words". */
  readonly of?: string;
}

/** An entity as passive, frozen data. The framework derives everything from it. */
export interface EntityDefinition<
  TName extends string = string,
  TFields = unknown,
  TActions = unknown,
  TTimestamps extends boolean = boolean,
  TOwner = unknown,
  TVersioned extends boolean = boolean,
> {
  readonly name: TName;
  /** Type-level only. */
  readonly $entity?: {
    readonly fields: TFields;
    readonly actions: TActions;
    readonly timestamps: TTimestamps;
    readonly owner: TOwner;
    readonly versioned: TVersioned;
  };
  /** The route segment; if absent, it is derived from the name. */
  readonly plural?: string;
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  readonly relations: Readonly<Record<string, RelationDefinition>>;
  /** Stored columns in order: id, fields and foreign keys as declared, timestamps, version. */
  readonly columns: Readonly<Record<string, ColumnDefinition>>;
  /** Columns that records contain but do not show: passwords, omitted fields, blind indexes, words. */
  readonly hidden: readonly string[];
  /** The belongsTo relation that names the owner, or "id" when a record is its own owner. */
  readonly ownedBy?: string;
  readonly rules?: EntityRules;
  /** Rules that the entity and its fields declare as objects, by name. */
  readonly ruleObjects: Readonly<Record<string, RuleObject>>;
  readonly actions: Readonly<Record<string, unknown>>;
  readonly validators: readonly CrossFieldValidator[];
  readonly timestamps: boolean;
  /** No routes; reachable from code only. */
  readonly internal: boolean;
  /** 404 instead of 403, so that the existence of a record stays hidden. */
  readonly hideForbidden: boolean;
  /** Records have a `version`; with `required`, requests that change a record must state it. */
  readonly versioned?: { readonly required: boolean };
  /** Records with a value in this field are hidden and release their unique values. */
  readonly softDelete?: { readonly field: string };
  /** The former name of the entity and its table. */
  readonly renamedFrom?: string;
  /** The table's name in the database. @default the entity's name */
  readonly table?: { readonly name: string; readonly schema?: string | undefined };
  /** Whether its table existed before the app; Keelson never changes such tables. */
  readonly existing: boolean;
  /** Whether its records are only read: a view, or a table that other programs maintain. */
  readonly readOnly: boolean;
  /** The source of new ids. */
  readonly idsFrom: IdSource;
  /** The minimum number of records per group in aggregates; smaller groups are left out. @default no minimum */
  readonly minGroup?: number;
  readonly indexes: readonly (readonly string[])[];
  readonly uniques: readonly (readonly string[])[];
  /** Metadata for plugins. */
  readonly meta?: GivenMetadata;
}

/** Any entity definition. */
export type AnyEntity = EntityDefinition;

export type { FieldFlag };
