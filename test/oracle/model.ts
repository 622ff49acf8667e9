/**
 * A model as data: entities, relations and rules. `build-app.ts` turns it into Keelson definitions, `evaluate/` into
 * predicates. They share no code, so they agree only where both implement the documents.
 */

import type { Computation, IncludeOptions, Includes, Json, JsonObject, ListQuery } from "./query.ts";

export type Scalar = string | number | boolean | null;
export type { Computation, IncludeOptions, Includes, Json, JsonObject, ListQuery };

/** A value in a condition: a literal, or a property of the caller. */
export type Value = Scalar | { readonly me: "id" | "team" };

export type Comparison =
  | ("eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin")
  | ("like" | "starts" | "ends" | "null");

/** A condition on a record: over its columns, or over related records (of a list: some record). */
export type Condition =
  | {
      readonly is: "column";
      readonly column: string;
      readonly op: Comparison;
      readonly value: Value | readonly Value[];
    }
  | { readonly is: "related"; readonly relation: string; readonly matches: Condition }
  | { readonly is: "and" | "or"; readonly of: readonly Condition[] }
  | { readonly is: "not"; readonly of: Condition };

export type RuleModel =
  | { readonly rule: "everyone" | "authenticated" | "owner" | "admin" | "ownerOrAdmin" }
  /** A function of the caller alone. */
  | { readonly rule: "team"; readonly team: string }
  /** Returns a `where`: “these records”. */
  | { readonly rule: "where"; readonly where: Condition }
  /** Reads the record, so it cannot decide about lists. */
  | { readonly rule: "record"; readonly test: Condition }
  /** Reads the record on create, and returns a `where` for everything stored. */
  | { readonly rule: "guarded"; readonly test: Condition; readonly where: Condition }
  | { readonly rule: "all"; readonly of: readonly RuleModel[] };

export type FieldKind = "string" | "int" | "bool" | "datetime" | "decimal";

export interface FieldModel {
  readonly name: string;
  readonly kind: FieldKind;
  readonly optional?: true;
  readonly unique?: true;
  readonly default?: Scalar;
  readonly readonly?: true;
  readonly omit?: true;
  readonly password?: true;
  readonly encrypted?: "plain" | "searchable";
  /** Its words are searchable; the weight of a hit. */
  readonly searched?: number;
  /** Texts of any length. */
  readonly long?: true;
  /** The database computes it from this column. */
  readonly computedFrom?: string;
  readonly readable?: readonly RuleModel[];
  readonly writable?: readonly RuleModel[];
}

export interface RelationModel {
  readonly name: string;
  readonly kind: "belongsTo" | "selfRef" | "hasMany" | "hasOne" | "manyToMany";
  readonly target: string;
  readonly optional?: true;
  readonly unique?: true;
  readonly onDelete?: "cascade" | "setNull" | "restrict";
  /** hasMany, hasOne: the belongsTo on the other side. manyToMany: the relation on the other side, if both declare it. */
  readonly inverse?: string;
}

export type Access = "create" | "read" | "update" | "delete";

/** A validator across fields: a condition that the whole record must meet. */
export interface ValidatorModel {
  readonly holds: Condition;
  readonly at: string;
}

export type ActionName =
  | "softDelete"
  | "restore"
  | "archive"
  | "unarchive"
  | "toggle"
  | "clone"
  | "bulkUpdate"
  | "bulkDelete"
  | "count"
  | "exists"
  | "export"
  | "import";

/** An action `report`, whose handler returns records that it read itself. Without rules it uses those of its entity. */
export interface ReportModel {
  readonly method: "GET" | "POST";
  readonly onResource?: true;
  readonly rules?: readonly RuleModel[];
}

export interface EntityModel {
  readonly name: string;
  readonly fields: readonly FieldModel[];
  readonly relations: readonly RelationModel[];
  /** A belongsTo relation, or "id". */
  readonly ownedBy?: string;
  readonly softDelete?: true;
  readonly hideForbidden?: true;
  /** Aggregates omit groups with fewer records. */
  readonly minGroup?: number;
  readonly rules: { readonly [A in Access]?: readonly RuleModel[] };
  readonly validators: readonly ValidatorModel[];
  readonly actions: readonly ActionName[];
  readonly report?: ReportModel;
}

export interface Model {
  readonly entities: readonly EntityModel[];
  /** Maximum bytes of a page. */
  readonly pageBytes?: number;
}

/** The caller; null is anonymous. */
export interface Caller {
  readonly id: string;
  readonly team: string;
  readonly role?: "admin";
}
export type Principal = Caller | null;

export type Row = { readonly [column: string]: Scalar };
/** Rows by entity, and pairs by `entity.relation` of the side that comes first in the model, as `source|target`. */
export interface Data {
  readonly rows: { readonly [entity: string]: readonly Row[] };
  readonly pairs: { readonly [relation: string]: readonly string[] };
}

/** A body: values of columns, lists of ids, and operations on related records. */
export type Input = { readonly [name: string]: Scalar | readonly string[] | JsonObject };

/** Where a call enters the app. */
export type Surface = "http" | "client" | "handler" | "steps";

/** What a handler reads: the action's own record, or records of any entity, as the app or as the caller. */
export type HandlerRead =
  | { readonly from: "record" }
  | {
      readonly from: "driver";
      readonly entity: string;
      readonly where: Condition;
      /** Reads one record; `where` contains its id. */
      readonly one?: true;
      readonly select?: readonly string[];
      readonly inTransaction?: true;
    }
  | { readonly from: "client"; readonly entity: string; readonly call: Extract<Call, { do: "get" | "list" }> };

/** What a handler returns: the records, copies, copies that claim to be the caller's, or parts inside other values. */
export type Handling = "asIs" | "copied" | "claimed" | "nested";

/** The reader of the requested OpenAPI document. */
export type Reader = "own" | "public" | "system";

/** One query or change; `uid` determines the ids that it creates, so that they stay the same when other steps are removed. */
export type Call =
  | { readonly do: "get"; readonly id: string; readonly query: ListQuery }
  | { readonly do: "list"; readonly query: ListQuery }
  | { readonly do: "walk"; readonly query: ListQuery }
  | { readonly do: "count"; readonly query: ListQuery }
  | { readonly do: "aggregate"; readonly query: ListQuery; readonly of: Computation }
  | { readonly do: "exists"; readonly id: string }
  | { readonly do: "export"; readonly query: ListQuery; readonly format: "json" | "ndjson" | "csv" }
  | { readonly do: "create"; readonly data: Input; readonly include?: readonly string[] }
  | { readonly do: "update"; readonly id: string; readonly data: Input; readonly include?: readonly string[] }
  | { readonly do: "delete"; readonly id: string }
  | {
      readonly do: "upsert";
      readonly on: readonly string[];
      readonly data: Input;
      readonly include?: readonly string[];
    }
  | { readonly do: "batch"; readonly items: readonly BatchItem[] }
  | { readonly do: "bulkUpdate"; readonly ids: readonly string[]; readonly data: Input }
  | { readonly do: "bulkDelete"; readonly ids: readonly string[] }
  | { readonly do: "import"; readonly rows: readonly Input[] }
  | { readonly do: "clone"; readonly id: string }
  | { readonly do: "toggle"; readonly id: string }
  | { readonly do: "archive"; readonly id: string }
  | { readonly do: "unarchive"; readonly id: string }
  | { readonly do: "softDelete"; readonly id: string }
  | { readonly do: "restore"; readonly id: string }
  | { readonly do: "report"; readonly id?: string; readonly read: HandlerRead; readonly handling: Handling }
  | { readonly do: "document"; readonly of: Reader };

/** One change of a batch; texts such as `$0.id` refer to earlier responses. */
export interface BatchItem {
  readonly on: string;
  readonly call: Extract<Call, { do: "create" | "update" | "delete" | "upsert" }>;
  readonly ifMatch?: string;
}

/** A change made directly in the database. */
export type Meanwhile =
  | { readonly set: string; readonly id: string; readonly to: Row }
  | { readonly remove: string; readonly id: string }
  | { readonly unpair: string; readonly pair: string };

export interface Step {
  readonly uid: string;
  readonly by: Principal;
  readonly on: string;
  readonly surface: Surface;
  readonly call: Call;
  /** Concurrent changes made during this call. */
  readonly meanwhile?: readonly Meanwhile[];
  /** The row whose lock the call waits for. @default the record of the call */
  readonly waitsFor?: { readonly entity: string; readonly id: string };
  /** What a workflow's step asks of its record besides the id. */
  readonly match?: Row;
  /** Repeats the request after a change of a field that the caller may not read; the response must be the same. */
  readonly unseen?: Meanwhile;
  /** Sends the same request again with the same key, as this caller: the same user with other rights. */
  readonly again?: Caller;
}

/** Everything that a run needs; a counter-example is one of these. */
export interface Scenario {
  readonly model: Model;
  readonly data: Data;
  readonly steps: readonly Step[];
}

export const entityOf = (model: Model, name: string): EntityModel => {
  const found = model.entities.find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`no entity ${name}`);
  return found;
};
export const relationOf = (entity: EntityModel, name: string): RelationModel | undefined =>
  entity.relations.find((one) => one.name === name);
export const keysOf = (entity: EntityModel): readonly RelationModel[] =>
  entity.relations.filter(({ kind }) => kind === "belongsTo" || kind === "selfRef");
export const keyOf = (relation: RelationModel): string => `${relation.name}Id`;
/** The column with the owner's id. */
export const ownerColumn = (entity: EntityModel): string | undefined =>
  entity.ownedBy === undefined || entity.ownedBy === "id" ? entity.ownedBy : `${entity.ownedBy}Id`;

/** A row with the values that the database computes. */
export function withComputed({ fields }: EntityModel, row: Row): Row {
  const computed = fields.flatMap(({ name, computedFrom }) =>
    computedFrom === undefined ? [] : [[name, computedOf(row[computedFrom] ?? null)] as const],
  );
  return { ...row, ...Object.fromEntries(computed) };
}
const computedOf = (value: Scalar): Scalar => (value === null ? null : value === "red" ? "blue" : "red");
/** The same computation in SQL. */
export const computation = (column: string): string =>
  `case when "${column}" = 'red' then 'blue' when "${column}" is not null then 'red' end`;
export const computedNames = ({ fields }: EntityModel): readonly string[] =>
  fields.filter(({ computedFrom }) => computedFrom !== undefined).map(({ name }) => name);
export const withoutComputed = (entity: EntityModel, row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !computedNames(entity).includes(name)));

/** The column of a copy that would make the caller its owner. */
export function claimsOf(entity: EntityModel, by: Principal): Row {
  const owner = ownerColumn(entity);
  const hasTeam = entity.fields.some(({ name, readable }) => name === "team" && readable === undefined);
  return { ...(owner && { [owner]: by?.id ?? "u1" }), ...(hasTeam && { team: by?.team ?? "red" }) };
}

/** The table of a many-to-many relation's pairs, and whether this side's ids come second. */
export function pairsOf(model: Model, entity: EntityModel, relation: RelationModel): { at: string; flipped: boolean } {
  const here = `${entity.name}.${relation.name}`;
  if (relation.inverse === undefined) return { at: here, flipped: false };
  const there = `${relation.target}.${relation.inverse}`;
  const first = model.entities.findIndex(({ name }) => name === entity.name);
  const second = model.entities.findIndex(({ name }) => name === relation.target);
  return first <= second ? { at: here, flipped: false } : { at: there, flipped: true };
}
