import type { JsonSchema, Operator } from "../../entity/index.ts";

/** What the page knows about an app: what its caller may see and do, and nothing else. Plain JSON data. */
export interface AppDocument extends Partial<AdminPaths> {
  readonly title: string;
  readonly caller: CallerDescription;
  /** Absolute path of the API's root. */
  readonly api: string;
  readonly entities: readonly EntityDescription[];
  readonly charts: readonly ChartDescription[];
  /** Absolute paths of routes that are not an entity's; absent where the caller may not use them. */
  readonly health?: string;
  readonly workflowRuns?: string;
  /** Id of the user whose view an administrator has opened, for reading only. */
  readonly viewedAs?: string;
  readonly limits: { readonly pageSize: number; readonly maxPageSize: number; readonly bulk: number };
}

/** Absolute paths of the studio's routes for administrators, where the app has what they are about. */
export interface AdminPaths {
  readonly keys: string;
  readonly services: string;
  /** The description of the app as another user sees it is below this path, under their id. */
  readonly viewAs: string;
}

/** Who the app takes the caller for. */
export interface CallerDescription {
  readonly kind: string;
  readonly id?: string;
  readonly isAdmin: boolean;
}

/** Whether a caller may do something: for all records, or for those that the rules choose. */
export type Right = "all" | "some";

/** What a caller may do with the records of an entity; what is missing is refused. */
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
  /** Segment of its routes. */
  readonly path: string;
  readonly rights: Rights;
  /** Names of the rules that decide about each right, for administrators only; an empty list denies every caller. */
  readonly rules?: Readonly<Partial<Record<keyof Rights, readonly string[]>>>;
  readonly fields: readonly FieldDescription[];
  readonly relations: readonly RelationDescription[];
  readonly actions: readonly ActionDescription[];
  /** Field whose value names a record. */
  readonly title: string;
  /** Whether `q` finds records. */
  readonly searchable: boolean;
  readonly versioned: boolean;
  /** Field with the time of a soft deletion, for callers who may list deleted records. */
  readonly deletedAt?: string;
}

/** One value: a field of an entity, or of what an action takes. */
export interface FieldDescription {
  readonly name: string;
  /** Name of its kind; absent for parameters that only have a schema. */
  readonly kind?: string;
  /** JSON Schema of one value on the wire. */
  readonly schema: JsonSchema;
  readonly optional: boolean;
  readonly description?: string;
  readonly default?: unknown;
  readonly isPassword?: boolean;
  /** Whether the caller may read it: in all records, or in some. */
  readonly read?: Right;
  /** Whether the caller may write it: in all records, or in some. */
  readonly write?: Right;
  /** Operators of conditions on it. */
  readonly operators?: readonly Operator[];
  readonly sortable?: boolean;
  /** Name of the belongsTo relation whose key it is. */
  readonly relation?: string;
}

/** A relation whose records the caller may include. */
export interface RelationDescription {
  readonly name: string;
  readonly type: "belongsTo" | "hasMany" | "hasOne" | "manyToMany";
  /** Name of the related entity. */
  readonly target: string;
  /** belongsTo: the field of this entity. hasMany, hasOne: that of the target. */
  readonly foreignKey?: string;
  /** Name of the relation on the other side. */
  readonly inverse?: string;
  /** Whether its records are another service's. */
  readonly remote: boolean;
}

/** How the page offers an action. */
export type ActionRole =
  | "action"
  | "bulkUpdate"
  | "bulkDelete"
  | "import"
  | "export"
  | "restore"
  | "softDelete"
  | "count";

/** A route of an entity besides those for reading and writing records. */
export interface ActionDescription {
  readonly name: string;
  readonly role: ActionRole;
  readonly method: string;
  /** Below the entity's path, such as `/:id/publish`. */
  readonly path: string;
  readonly onRecord: boolean;
  readonly right: Right;
  readonly summary?: string;
  /** Query parameters. */
  readonly query: readonly FieldDescription[];
  /** Fields of the body; absent for actions without one. */
  readonly input?: readonly FieldDescription[];
  /** Whether it runs a workflow that can be followed. */
  readonly runsAsync: boolean;
}

/** A chart, as code describes it. */
export interface ChartDescription {
  /** Name of the entity. */
  readonly entity: string;
  /** What the records are grouped by, as in `group=`: `status`, `month(createdAt)`. */
  readonly group: string;
  /** What is computed of each group, such as `sum=total`. @default "count" */
  readonly measure?: string;
  /** @default made of the others */
  readonly title?: string;
}
