import type { AnyEntity, FieldDefinition, JsonSchema } from "../../entity/index.ts";
import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationScope } from "./operation-scope.ts";
import type { Route } from "./route.ts";

/** A query or header parameter of a route. */
export interface ParameterDescription {
  readonly name: string;
  /** @default "query" */
  readonly in?: "query" | "header";
  readonly schema: JsonSchema;
  readonly description?: string | undefined;
  /** @default false */
  readonly required?: boolean | undefined;
  /**
   * Whether several values are sent as one, separated by commas; otherwise the parameter is repeated. @default false
   */
  readonly commas?: boolean | undefined;
  /** Whether it is the same for every entity, so that a document defines it once under its own name. @default false */
  readonly shared?: boolean | undefined;
}

/** Schemas by media type. */
export type ContentDescription = Readonly<Record<string, JsonSchema>>;

/** A successful response. */
export interface AnswerDescription {
  readonly description: string;
  /** @default no body */
  readonly content?: ContentDescription | undefined;
  /** Descriptions of the headers, by name. All responses have `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The documentation of a route. */
export interface RouteDescription {
  /** Unique and stable, for generated clients. @default action and entity, such as `publishPost` */
  readonly operationId?: string | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly parameters?: readonly ParameterDescription[] | undefined;
  readonly body?: { readonly required: boolean; readonly content: ContentDescription } | undefined;
  /** By status, or by range such as "2XX", which is documented as `default`. @default any success */
  readonly answers?: Readonly<Record<string, AnswerDescription>> | undefined;
  /** Error statuses in addition to those of all routes; ranges such as "4XX" when the app's code decides. */
  readonly errors?: readonly (number | "4XX")[] | undefined;
}

/**
 * The kind of a schema: a whole record, a record with some of its fields, the body of a create or an update, or the
 * conditions of `_where`.
 */
export type RecordForm = "record" | "selection" | "create" | "update" | "where";

/** Passed to `describe`: the schemas and rights of one reader of the documentation. */
export interface RouteReader {
  /** The reader's scope: only what the reader may use is described. Its field masks are final. */
  readonly scope: OperationScope;
  /** Whether the reader may read some or all records of an entity. */
  reads(entity: AnyEntity): boolean;
  /**
   * The schema of an entity's records, with the fields that the reader may use. Use "record" for responses, even if
   * `select` leaves fields out: docs/adr/0080-describe-the-whole-record.md
   */
  record(entity: AnyEntity, form: RecordForm): JsonSchema;
  /** The schema of an object with the given fields, for input or output. */
  fields(fields: Readonly<Record<string, FieldDefinition>>, side: "input" | "output"): JsonSchema;
}

/** The service `openapi.routes`, for plugins whose hooks respond instead of routes, to document those responses. */
export interface RouteNotes {
  /** Adds the returned errors and parameters to a route; undefined adds nothing. */
  add(note: (route: Route) => Pick<RouteDescription, "errors" | "parameters"> | undefined): void;
}

/** The token of RouteNotes. */
export const RouteNotes: ServiceToken<RouteNotes> = token("openapi.routes");

/**
 * Describes a route to a reader who may use it; undefined hides the route from the reader's documentation. The
 * description is cached for readers with the same rights. If it uses other parts of the scope than masks and decisions,
 * such as the user or a service, the document is built for each request.
 */
export type DescribeRoute = (
  reader: RouteReader,
) => RouteDescription | undefined | Promise<RouteDescription | undefined>;
