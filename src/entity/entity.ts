import type { ActionLike } from "./action.ts";
import { columnsOf, hiddenColumns } from "./columns.ts";
import type {
  Access,
  AnyEntity,
  ColumnDefinition,
  CrossFieldContext,
  CrossFieldValidator,
  EntityDefinition,
  EntityRules,
  FieldMap,
  IdSource,
} from "./entity-definition.ts";
import type { AnyField } from "./field.ts";
import type { InferEntityData } from "./infer.ts";
import { ConfigurationError } from "./keelson-error.ts";
import { idKind, idKindOf } from "./kinds/index.ts";
import type { FieldDefinition, FieldKind, RuleObject } from "./kinds/kind.ts";
import { problemsOf } from "./problems.ts";
import type { EntityLike, RelationDefinition } from "./relation.ts";
import { type RuleRef, ruleName, ruleObjectsOf } from "./rule-ref.ts";

/** Rules per access, as names or as objects. */
export type EntityRulesInput = { readonly [K in Access]?: readonly (string | RuleObject)[] };

/** Options of a cross-field validator. */
export interface CrossFieldOptions {
  /** @default ["create", "update"] */
  readonly operations?: readonly ("create" | "update")[];
  /** Fields the message is shown at. @default [] */
  readonly fields?: readonly string[];
}

/** The state of a builder; passive data. */
type Draft = {
  readonly name: string;
  readonly members: readonly (readonly [string, FieldDefinition | RelationDefinition])[];
  readonly given: readonly RuleObject[];
  readonly ids: FieldKind;
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
   * What ids are, and who makes them. They are texts in code; an `int` id is a number on the wire.
   * @param field `string`, `int`, `bigint` or `uuid`
   * @param options `from`: "keelson" makes texts and UUIDs (version 7), "database" counts or has a default, "caller"
   *   gives it when the record is created @default "database" for numbers, "caller" for `string`, "keelson" for `uuid`
   * @throws ConfigurationError for another field, and for numbers from Keelson
   */
  id(
    field: AnyField,
    options: { readonly from?: IdSource | undefined } = {},
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
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
    return this.#with({ ids: ids as FieldKind, idsFrom: from });
  }

  /** Names the belongsTo relation that points to the owner; `"id"` on the entity that describes the users themselves. */
  ownedBy<const O extends (keyof TFields & string) | "id">(
    relation: O,
  ): EntityBuilder<TName, TFields, TActions, TTimestamps, O, TVersioned> {
    return this.#with<TActions, TTimestamps, O>({ ownedBy: relation });
  }

  /** Who may do what. Any rule of a list passes; a missing key and an empty list deny. */
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

  /** Adds a predicate over several fields; it must return strictly `true` and may be async. */
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

  /** `false` leaves out `createdAt` and `updatedAt`. */
  timestamps<const T extends boolean>(on: T): EntityBuilder<TName, TFields, TActions, T, TOwner, TVersioned> {
    return this.#with<TActions, T>({ timestamps: on });
  }

  /** No routes: only code reads and writes it. */
  internal(): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ internal: true });
  }

  /** Responds with 404 instead of 403, so that the existence of a record stays hidden. */
  hideForbidden(): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ hideForbidden: true });
  }

  /**
   * Optimistic concurrency: records have a `version` that starts at 1 and that every write increments; responses with
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
   * Soft deletion: records with a value in the field are hidden from every operation, and free their unique values.
   * Only `softDeleteAction` and `restoreAction` write the field.
   * @param field optional datetime field, which the entity declares @default "deletedAt"
   */
  softDelete(field = "deletedAt"): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ softDelete: Object.freeze({ field }) });
  }

  /**
   * The entity's former name: its table keeps its rows under the new name. Remove this once every database has changed.
   */
  renamedFrom(name: string): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ renamedFrom: name });
  }

  /** An index over the named columns. */
  index(columns: readonly string[]): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ indexes: Object.freeze([...this.#draft.indexes, Object.freeze([...columns])]) });
  }

  /** No two records share this combination of columns. */
  unique(columns: readonly string[]): EntityBuilder<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    return this.#with({ uniques: Object.freeze([...this.#draft.uniques, Object.freeze([...columns])]) });
  }

  /**
   * The frozen definition.
   * @throws ConfigurationError naming every problem of the definition at once.
   */
  build(): EntityDefinition<TName, TFields, TActions, TTimestamps, TOwner, TVersioned> {
    this.#built ??= this.#define();
    return this.#built as EntityDefinition<TName, TFields, TActions, TTimestamps, TOwner, TVersioned>;
  }

  #define(): AnyEntity {
    const { members: declared, given, ids, ...rest } = this.#draft;
    const members = declared.map(([name, member]) => [name, asKept(member, name === rest.softDelete?.field)] as const);
    const { timestamps, versioned } = rest;
    const columns = columnsOf(members, { id: ids, timestamps, versioned: versioned !== undefined });
    return defineEntity(rest, members, columns, [...given, ...rulesOfActions(rest.actions)]);
  }
}

type Members = readonly (readonly [string, FieldDefinition | RelationDefinition])[];

/** @throws ConfigurationError naming every problem of the definition at once */
function defineEntity(
  rest: Omit<AnyEntity, "fields" | "relations" | "columns" | "hidden" | "ruleObjects">,
  members: Members,
  columns: AnyEntity["columns"],
  given: readonly RuleObject[],
): AnyEntity {
  const fields = members.flatMap(([name, member]) => ("kind" in member ? [[name, member] as const] : []));
  const relations = members.flatMap(([name, member]) => ("type" in member ? [[name, member] as const] : []));
  const objects = [...given, ...fields.flatMap(([, { ruleObjects }]) => Object.values(ruleObjects ?? {}).flat())];
  const definition: AnyEntity = Object.freeze({
    ...rest,
    ruleObjects: Object.freeze(Object.fromEntries(objects.map((rule) => [rule.name, rule]))),
    fields: Object.freeze(Object.fromEntries(fields)),
    relations: Object.freeze(Object.fromEntries(relations)),
    columns,
    hidden: hiddenColumns(columns),
  });
  const problems = problemsOf(definition, members, objects);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return definition;
}

/**
 * A definition with more fields and relations, after its own.
 * @throws ConfigurationError for a name that is taken, and for what is wrong with the result
 */
export function extendEntity(definition: AnyEntity, added: FieldMap): AnyEntity {
  const { fields, relations, columns, hidden, ruleObjects, ...rest } = definition;
  const more = Object.entries(added).map(([key, member]) => [key, definitionOf(rest.name, key, member)] as const);
  const taken = more.filter(([name]) => Object.hasOwn(fields, name) || Object.hasOwn(relations, name));
  if (taken.length > 0)
    throw new ConfigurationError(taken.map(([name]) => `${rest.name} has a field or relation "${name}" already`));
  const own = Object.values(columns);
  const isKept = ({ role }: ColumnDefinition): boolean => ["createdAt", "updatedAt", "version"].includes(role);
  const extra = Object.values(
    columnsOf(more, { id: columns.id?.kind as FieldKind, timestamps: false, versioned: false }),
  ).filter(({ role }) => role !== "id");
  const ordered = [...own.filter((column) => !isKept(column)), ...extra, ...own.filter(isKept)];
  return defineEntity(
    rest,
    [...Object.entries(fields), ...Object.entries(relations), ...more],
    Object.freeze(Object.fromEntries(ordered.map((column) => [column.name, column]))),
    Object.values(ruleObjects),
  );
}

/** Only actions write the field of a soft deletion. */
function asKept<M extends FieldDefinition | RelationDefinition>(member: M, isDeletion: boolean): M {
  return isDeletion && "kind" in member ? Object.freeze({ ...member, readonly: true }) : member;
}

/**
 * Rules that actions were given as objects. Anything that is not a list of rules is skipped here and reported when the
 * actions are read.
 */
function rulesOfActions(actions: AnyEntity["actions"]): readonly RuleObject[] {
  return Object.values(actions).flatMap((value) => {
    const { definition = value } = (value ?? {}) as { definition?: unknown };
    const rules: unknown = (definition as { rules?: unknown } | null | undefined)?.rules;
    return Array.isArray(rules) ? ruleObjectsOf((rules as RuleRef[]).flat().filter(Boolean)) : [];
  });
}

/** The definition of a member. It is usually missing because an import cycle left a name undefined. */
function definitionOf(
  entity: string,
  name: string,
  member: FieldMap[string] | undefined,
): FieldDefinition | RelationDefinition {
  if (typeof member === "object" && member !== null) {
    if ("definition" in member) return member.definition;
    if ("relation" in member) return member.relation;
  }
  throw new ConfigurationError(`${entity}.${name} is neither a field nor a relation`);
}

/**
 * Starts the definition of an entity.
 * @param name in the singular; its routes have the plural in kebab-case
 * @param fields fields and relations by name
 * @returns a builder whose methods each give a new one; it is accepted wherever a definition is
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
    ids: idKind as FieldKind,
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

/** The definition behind a builder or a definition. */
export function resolveEntity<E extends EntityLike>(entity: E): E extends { build(): infer D } ? D : E {
  return ("build" in entity ? entity.build() : entity) as E extends { build(): infer D } ? D : E;
}
