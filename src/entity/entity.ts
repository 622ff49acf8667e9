import type { ActionLike } from "./action.ts";
import { ConfigurationError } from "./base/keelson-error.ts";
import { type Metadata, withMetadata } from "./base/metadata.ts";
import { suggestMethods } from "./base/misspelt-methods.ts";
import { columnsOf, type KeptColumns, type TimestampColumns } from "./columns.ts";
import { asKept, defineEntity, definitionOf, rulesOfActions } from "./define-entity.ts";
import type {
  Access,
  AnyEntity,
  CrossFieldContext,
  CrossFieldValidator,
  EntityDefinition,
  EntityRules,
  FieldMap,
  IdSource,
} from "./entity-definition.ts";
import type { AnyField } from "./field-modifiers.ts";
import type { InferEntityData } from "./infer.ts";
import { idKind, idKindOf } from "./kinds/index.ts";
import type { FieldDefinition, FieldKind, RuleObject } from "./kinds/kind.ts";
import type { EntityLike, RelationDefinition } from "./relation.ts";
import { ruleName, ruleObjectsOf } from "./rule-ref.ts";

/** Rules per access, as names or as objects. */
export type EntityRulesInput = { readonly [K in Access]?: readonly (string | RuleObject)[] };

/** Options of a cross-field validator. */
export interface CrossFieldOptions {
  /** @default ["create", "update"] */
  readonly operations?: readonly ("create" | "update")[];
  /** The fields that the message is for. @default [] */
  readonly fields?: readonly string[];
}

/** The state of a builder; passive data. */
type Draft = {
  readonly name: string;
  readonly members: readonly (readonly [string, FieldDefinition | RelationDefinition])[];
  readonly given: readonly RuleObject[];
  readonly ids: KeptColumns["id"];
  readonly moments: TimestampColumns;
} & Omit<EntityDefinition, "name" | "$entity" | "fields" | "relations" | "columns" | "hidden" | "ruleObjects">;

/** Builds an entity; each method returns a new builder, `build()` the frozen definition. */
export class EntityBuilder<
  TName extends string,
  TFields,
  TActions = Record<never, never>,
  TTimestamps extends boolean = true,
  TOwner = never,
  TVersioned extends boolean = false,
> {
  readonly #draft: Draft;
  #built: AnyEntity | undefined;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  get name(): TName {
    return this.#draft.name as TName;
  }

  #with<A = TActions, T extends boolean = TTimestamps, O = TOwner, V extends boolean = TVersioned>(
    change: Partial<Draft>,
  ): EntityBuilder<TName, TFields, A, T, O, V> {
    return new EntityBuilder<TName, TFields, A, T, O, V>({ ...this.#draft, ...change });
  }

  /**
   * Sets the type and source of ids. Ids are texts in code; an `int` id is a number in JSON.
   * @param field `string`, `int`, `bigint` or `uuid`; or the names of columns that the id is composed of, as in
   *   "acme~ann" for `["orgId", "userId"]`: relations cannot refer to such records
   * @param options `from`: "keelson" makes texts and UUIDs (version 7), "database" uses a sequence or default, "caller"
   *   requires the id on create @default "database" for numbers, "caller" for `string`, "keelson" for `uuid`
   * @throws ConfigurationError for another field, and for numbers from Keelson
   */
  id(
    field: AnyField | readonly string[],
    options: { readonly from?: Exclude<IdSource, "parts"> | undefined } = {},
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    if (!("definition" in field)) return this.#with({ ids: { parts: Object.freeze([...field]) }, idsFrom: "parts" });
    const { kind } = field.definition;
    const ids = idKindOf(kind);
    const at = `${this.#draft.name}.id()`;
    if (ids === undefined)
      throw new ConfigurationError(`${at} takes string, int, bigint or uuid, not a field of the kind ${kind.name}`);
    const isNumber = kind.name === "int" || kind.name === "bigint";
    const { from = isNumber ? "database" : kind.name === "uuid" ? "keelson" : "caller" } = options;
    if (isNumber && from === "keelson")
      throw new ConfigurationError(
        `${at}: numbers come from the "database" or the "caller"; Keelson makes texts and UUIDs`,
      );
    if (kind.name === "string" && from === "database")
      throw new ConfigurationError(
        `${at}: texts come from "keelson" or the "caller"; databases make numbers and UUIDs`,
      );
    return this.#with({ ids: { kind: ids as FieldKind, column: field.definition.column }, idsFrom: from });
  }

  /** Sets the belongsTo relation to the owner; use `"id"` for the entity of the users themselves. */
  ownedBy<const O extends (keyof TFields & string) | "id">(
    relation: O,
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, O, TVersioned> {
    return this.#with<TActions, TTimestamps, O>({ ownedBy: relation });
  }

  /** Sets the rules for each access. One rule of a list must pass; a missing key or an empty list denies. */
  rules(rules: EntityRulesInput): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    const named = Object.entries(rules).map(([access, list]) => [access, Object.freeze((list ?? []).map(ruleName))]);
    const given = ruleObjectsOf(Object.values(rules).flatMap((list) => list ?? []));
    return this.#with({ rules: Object.freeze(Object.fromEntries(named)) as EntityRules, given });
  }

  /** Attaches actions; the key is the action's name (spec 4.2 rule 1). */
  actions<A extends Readonly<Record<string, ActionLike>>>(
    actions: A,
  ): EntityBuilder<TName, TFields, TActions & A, TTimestamps, TOwner, TVersioned> {
    return this.#with<TActions & A>({ actions: Object.freeze({ ...this.#draft.actions, ...actions }) });
  }

  /** Adds a predicate over several fields; only a strict `true` passes. It may be async. */
  validate(
    test: (
      data: Partial<InferEntityData<EntityDefinition<TName, TFields, TActions, TTimestamps, TOwner, TVersioned>>>,
      context: CrossFieldContext,
    ) => boolean | Promise<boolean>,
    message: string,
    options: CrossFieldOptions = {},
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    const { operations = ["create", "update"], fields = [] } = options;
    const validator: CrossFieldValidator = Object.freeze({
      test,
      message,
      operations: Object.freeze([...operations]),
      fields: Object.freeze([...fields]),
    });
    return this.#with({ validators: Object.freeze([...this.#draft.validators, validator]) });
  }

  /** Route segment to use instead of the derived plural. */
  plural(name: string): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ plural: name });
  }

  /** `false` removes `createdAt` and `updatedAt`; an object sets their column names. */
  timestamps<const T extends boolean>(on: T): EntityBuilder<TName, TFields, TActions, T, TOwner, TVersioned>;
  timestamps(columns: TimestampColumns): EntityBuilder<TName, TFields, TActions, true, TOwner, TVersioned>;
  timestamps(on: boolean | TimestampColumns): EntityBuilder<TName, TFields, TActions, boolean, TOwner, TVersioned> {
    return this.#with<TActions, boolean>({ timestamps: on !== false, moments: typeof on === "object" ? on : {} });
  }

  /**
   * Sets the table's name if it differs from the entity's.
   * @param options `schema`: the schema in PostgreSQL @default the connection's
   */
  table(
    name: string,
    options: { readonly schema?: string | undefined } = {},
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ table: Object.freeze({ name, ...options }) });
  }

  /** The table existed before the app: pushes and migrations never change it, but it is still compared at start. */
  existing(): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ existing: true });
  }

  /** Records are only read, as for a view or a table that other programs maintain. Implies `existing()`. */
  readOnly(): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ readOnly: true, existing: true });
  }

  /** Removes the routes: only code can read and write the entity. */
  internal(): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ internal: true });
  }

  /** Responds with 404 instead of 403, so that the existence of a record stays hidden. */
  hideForbidden(): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ hideForbidden: true });
  }

  /**
   * Optimistic concurrency: records have a `version` that starts at 1 and is incremented by every write; responses with
   * one record have an `ETag`.
   * @param options `required` refuses requests that change a record without `If-Match` (428) @default false
   */
  versioned(
    options: { readonly required?: boolean | undefined } = {},
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, true> {
    const versioned = Object.freeze({ required: options.required ?? false });
    return this.#with<TActions, TTimestamps, TOwner, true>({ versioned });
  }

  /**
   * Soft deletion: records with a value in the field are hidden from every operation, and release their unique values.
   * Only `softDeleteAction` and `restoreAction` write the field.
   * @param field an optional datetime field that the entity declares @default "deletedAt"
   */
  softDelete(field = "deletedAt"): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ softDelete: Object.freeze({ field }) });
  }

  /**
   * Leaves smaller groups out of aggregates, so that these do not reveal single records. Lists and rules are not
   * affected.
   * @param records the minimum number of records per group
   */
  minGroup(records: number): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ minGroup: records });
  }

  /**
   * Sets the entity's former name: the table is renamed and keeps its rows. Remove this once every database has been
   * migrated.
   */
  renamedFrom(name: string): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ renamedFrom: name });
  }

  /** Adds an index on columns. */
  index(columns: readonly string[]): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ indexes: Object.freeze([...this.#draft.indexes, Object.freeze([...columns])]) });
  }

  /** Requires that the combination of columns is unique. */
  unique(columns: readonly string[]): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ uniques: Object.freeze([...this.#draft.uniques, Object.freeze([...columns])]) });
  }

  /** Sets a metadata value for a plugin. */
  meta<K extends keyof Metadata>(
    key: K,
    value: Metadata[K],
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ meta: withMetadata(this.#draft.meta, key, value) });
  }

  /**
   * Returns the frozen definition.
   * @throws ConfigurationError with all problems of the definition
   */
  build(): EntityDefinition<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    this.#built ??= this.#define();
    return this.#built as EntityDefinition<TName, TFields, TActions, TTimestamps, TOwner, TVersioned>;
  }

  #define(): AnyEntity {
    const { members: declared, given, ids, moments, ...rest } = this.#draft;
    const members = declared.map(([name, member]) => [name, asKept(member, name === rest.softDelete?.field)] as const);
    const { timestamps, versioned, existing } = rest;
    const kept = { id: ids, timestamps: timestamps && moments, versioned: versioned !== undefined, existing };
    const columns = columnsOf(members, kept);
    return defineEntity(rest, members, columns, [...given, ...rulesOfActions(rest.actions)]);
  }
}

suggestMethods(EntityBuilder);

/**
 * Starts the definition of an entity.
 * @param name in the singular; its routes have the plural in kebab-case
 * @param fields fields and relations by name
 * @returns an immutable builder, which is accepted wherever a definition is
 * @example
 * const post = entity("post", { title: string.min(3), author: belongsTo(() => user) })
 *   .ownedBy("author")
 *   .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["ownerOrAdmin"] })
 */
export function entity<const TName extends string, TFields extends FieldMap>(
  name: TName,
  fields: TFields,
): EntityBuilder<TName, TFields> {
  const members = Object.entries(fields).map(([key, member]) => [key, definitionOf(name, key, member)] as const);
  return new EntityBuilder<TName, TFields>({
    name,
    members,
    given: [],
    ids: { kind: idKind as FieldKind },
    moments: {},
    existing: false,
    readOnly: false,
    idsFrom: "keelson",
    actions: Object.freeze({}),
    validators: Object.freeze([]),
    timestamps: true,
    internal: false,
    hideForbidden: false,
    indexes: Object.freeze([]),
    uniques: Object.freeze([]),
  });
}

/** Returns the definition of a builder or a definition. */
export function resolveEntity<E extends EntityLike>(entity: E): E extends { build(): infer D } ? D : E {
  return ("build" in entity ? entity.build() : entity) as E extends { build(): infer D } ? D : E;
}
