import type { GivenMetadata } from "./base/metadata.ts";
import type { AnyField, FieldFlag } from "./field-modifiers.ts";
import type { JsonPath } from "./kinds/json.ts";
import type { FieldDefinition, FieldKind, RuleObject } from "./kinds/kind.ts";
import type { AnyRelation, RelationDefinition } from "./relation.ts";

/** The four kinds of access that rules are about. */
export type Access = "create" | "read" | "update" | "delete";
/** Rule names per access; any of a list passes, an empty list or a missing key denies. */
export type EntityRules = { readonly [K in Access]?: readonly string[] };

/** What a user passes to `entity(name, fields)`. */
export type FieldMap = Readonly<Record<string, AnyField | AnyRelation>>;

/**
 * Who makes the id of a new record: Keelson before it is stored, the database (a sequence, a default), or the caller, who
 * has to give it. "parts": it consists of values of the record.
 */
export type IdSource = "keelson" | "database" | "caller" | "parts";

/** A predicate over several fields of one record. */
export interface CrossFieldValidator {
  readonly test: (data: never, context: CrossFieldContext) => unknown;
  readonly message: string;
  readonly operations: readonly ("create" | "update")[];
  /** Fields the message is shown at; the first one carries it. */
  readonly fields: readonly string[];
}

/** What a cross-field validator knows besides the record. */
export interface CrossFieldContext {
  readonly operation: "create" | "update";
  /** Who writes; `null` for anonymous callers and for the system. */
  readonly user: unknown;
}

/** What a column of an entity is for. */
export type ColumnRole = "id" | "field" | "foreignKey" | "createdAt" | "updatedAt" | "version" | "blindIndex" | "words";

/** One stored column of an entity: a field, a foreign key, or one that the framework keeps itself. */
export interface ColumnDefinition {
  readonly name: string;
  /** What the database calls it. */
  readonly stored: string;
  /** Whether its table was there before: values then have the database's form, not one of Keelson's. */
  readonly existing?: boolean;
  readonly kind: FieldKind;
  /** Where in its JSON, in conditions on what is at a path. */
  readonly path?: JsonPath;
  readonly role: ColumnRole;
  readonly optional: boolean;
  readonly unique: boolean;
  /** The field that declares it, when `role` is "field". */
  readonly field?: FieldDefinition;
  /** The belongsTo relation that owns it, when `role` is "foreignKey". */
  readonly relation?: string;
  /** The columns whose values it consists of, when `role` is "id" and there is no column of its own. */
  readonly parts?: readonly ColumnDefinition[];
  /** The field whose values it is made of, when `role` is "blindIndex" or "words". */
  readonly of?: string;
}

/** An entity as passive, frozen data. Everything the framework does is derived from this. */
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
  /** Route segment; absent = derived from the name. */
  readonly plural?: string;
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  readonly relations: Readonly<Record<string, RelationDefinition>>;
  /** Stored columns in order: id, fields and foreign keys as declared, timestamps, version. */
  readonly columns: Readonly<Record<string, ColumnDefinition>>;
  /** Columns that records hold without showing them: passwords, omitted fields, blind indexes, words. */
  readonly hidden: readonly string[];
  /** The belongsTo relation that names the owner, or "id" when a record is its own owner. */
  readonly ownedBy?: string;
  readonly rules?: EntityRules;
  /** Rules that the entity and its fields were given as objects, by name. */
  readonly ruleObjects: Readonly<Record<string, RuleObject>>;
  readonly actions: Readonly<Record<string, unknown>>;
  readonly validators: readonly CrossFieldValidator[];
  readonly timestamps: boolean;
  /** No routes; reachable from code only. */
  readonly internal: boolean;
  /** 404 instead of 403, so that the existence of a record stays hidden. */
  readonly hideForbidden: boolean;
  /** Records have a `version`; `required`: requests that change a record must name it. */
  readonly versioned?: { readonly required: boolean };
  /** Records with a value in this field are hidden, and free their unique values. */
  readonly softDelete?: { readonly field: string };
  /** The former name of the entity and its table. */
  readonly renamedFrom?: string;
  /** What the database calls its table. @default the name */
  readonly table?: { readonly name: string; readonly schema?: string | undefined };
  /** Its table was there before, and is never changed. */
  readonly existing: boolean;
  /** Its records are read and never written: a view, or a table that others keep. */
  readonly readOnly: boolean;
  /** Who makes the ids of new records. */
  readonly idsFrom: IdSource;
  /** Groups of fewer records are left out of aggregates. @default groups of any size are shown */
  readonly minGroup?: number;
  readonly indexes: readonly (readonly string[])[];
  readonly uniques: readonly (readonly string[])[];
  /** What plugins read. */
  readonly meta?: GivenMetadata;
}

/** Any entity definition, whatever its fields. */
export type AnyEntity = EntityDefinition;

export type { FieldFlag };
