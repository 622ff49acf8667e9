import type { JsonSchema, Operator } from "../../entity/index.ts";

/** The page's description of an app: only what its caller may see and do. Plain JSON data. */
export interface AppDocument extends Partial<AdminPaths> {
  readonly title: string;
  readonly caller: CallerDescription;
  /** Absolute path of the API's root. */
  readonly api: string;
  readonly entities: readonly EntityDescription[];
  readonly charts: readonly ChartDescription[];
  /** Absolute paths of routes without an entity; undefined if the caller may not use them. */
  readonly health?: string;
  readonly workflowRuns?: string;
  /** Id of the user whose view of the app an administrator has, read-only. */
  readonly viewedAs?: string;
  readonly limits: { readonly pageSize: number; readonly maxPageSize: number; readonly bulk: number };
}

/** Absolute paths of the studio's routes for administrators, if the app has the features for them. */
export interface AdminPaths {
  readonly keys: string;
  readonly services: string;
  /** The path below which the app is described as another user sees it, by the user's id. */
  readonly viewAs: string;
}

/** The caller, as the app has identified them. */
export interface CallerDescription {
  readonly kind: string;
  readonly id?: string;
  readonly isAdmin: boolean;
}

/** Whether a caller may do something for all records, or only for those that the rules allow. */
export type Right = "all" | "some";

/** A caller's rights on the records of an entity. Missing rights are denied. */
export interface Rights {
  readonly list?: Right;
  readonly read?: Right;
  readonly create?: Right;
  readonly update?: Right;
  readonly delete?: Right;
  readonly aggregate?: Right;
}

/** One entity, with the fields and relations that the caller may use. */
export interface EntityDescription {
  readonly name: string;
  /** Segment of its routes' paths. */
  readonly path: string;
  readonly rights: Rights;
  /** Names of the rules for each right, for administrators only. An empty list denies all callers. */
  readonly rules?: Readonly<Partial<Record<keyof Rights, readonly string[]>>>;
  readonly fields: readonly FieldDescription[];
  readonly relations: readonly RelationDescription[];
  readonly actions: readonly ActionDescription[];
  /** The field whose value is shown as the name of a record. */
  readonly title: string;
  /** Whether `q` finds records. */
  readonly searchable: boolean;
  readonly versioned: boolean;
  /** Field with the time of a soft deletion, for callers who may list deleted records. */
  readonly deletedAt?: string;
}

/** One value: a field of an entity, or of an action's input. */
export interface FieldDescription {
  readonly name: string;
  /** Name of its kind; undefined for parameters that only have a schema. */
  readonly kind?: string;
  /** JSON Schema of one value in JSON form. */
  readonly schema: JsonSchema;
  readonly optional: boolean;
  readonly description?: string;
  readonly default?: unknown;
  readonly isPassword?: boolean;
  /** Whether the caller may read it, in all records or in some. */
  readonly read?: Right;
  /** Whether the caller may write it, in all records or in some. */
  readonly write?: Right;
  /** Operators of conditions on it. */
  readonly operators?: readonly Operator[];
  readonly sortable?: boolean;
  /** Name of the belongsTo relation to which this foreign key belongs. */
  readonly relation?: string;
}

/** A relation whose records the caller may include. */
export interface RelationDescription {
  readonly name: string;
  readonly type: "belongsTo" | "hasMany" | "hasOne" | "manyToMany";
  /** Name of the related entity. */
  readonly target: string;
  /** belongsTo: the field of this entity. hasMany, hasOne: the field of the target. */
  readonly foreignKey?: string;
  /** Name of the relation on the other side. */
  readonly inverse?: string;
  /** Whether its records belong to another service. */
  readonly remote: boolean;
}

/** How the page presents an action. */
export type ActionRole =
  | "action"
  | "bulkUpdate"
  | "bulkDelete"
  | "import"
  | "export"
  | "restore"
  | "softDelete"
  | "count";

/** A route of an entity, except those for reading and writing records. */
export interface ActionDescription {
  readonly name: string;
  readonly role: ActionRole;
  readonly method: string;
  /** Relative to the entity's path, such as `/:id/publish`. */
  readonly path: string;
  readonly onRecord: boolean;
  readonly right: Right;
  readonly summary?: string;
  /** Query parameters. */
  readonly query: readonly FieldDescription[];
  /** Fields of the body; undefined for actions without one. */
  readonly input?: readonly FieldDescription[];
  /** Whether it runs a workflow that can be followed. */
  readonly runsAsync: boolean;
}

/** A chart, as configured in code. */
export interface ChartDescription {
  /** Name of the entity. */
  readonly entity: string;
  /** The grouping of the records, as in `group=`: `status`, `month(createdAt)`. */
  readonly group: string;
  /** The measure of each group, such as `sum=total`. @default "count" */
  readonly measure?: string;
  /** @default built from the other options */
  readonly title?: string;
}
