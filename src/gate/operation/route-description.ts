import type { AnyEntity, FieldDefinition, JsonSchema } from "../../entity/index.ts";
import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationScope } from "./operation-scope.ts";
import type { Route } from "./route.ts";

/** A parameter of a route besides those of its path. */
export interface ParameterDescription {
  readonly name: string;
  /** @default "query" */
  readonly in?: "query" | "header";
  readonly schema: JsonSchema;
  readonly description?: string | undefined;
  /** @default false */
  readonly required?: boolean | undefined;
  /** Whether several values are written as one, with commas between; else the parameter is repeated. @default false */
  readonly commas?: boolean | undefined;
  /** Whether it is the same on every entity, so that a document has it once under its own name. @default false */
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

/** What documentation says about a route. */
export interface RouteDescription {
  /** Unique and stable, for generated clients. @default action and entity, such as `publishPost` */
  readonly operationId?: string | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly parameters?: readonly ParameterDescription[] | undefined;
  readonly body?: { readonly required: boolean; readonly content: ContentDescription } | undefined;
  /** By status, or by range such as "2XX", which is shown as `default`. @default any success */
  readonly answers?: Readonly<Record<string, AnswerDescription>> | undefined;
  /** Statuses of errors besides those of all routes; ranges such as "4XX" where the app's code decides. */
  readonly errors?: readonly (number | "4XX")[] | undefined;
}

/**
 * A schema about records of one entity: a whole record, a record that may lack fields, what is sent for a create or an
 * update, and the conditions that `_where` takes.
 */
export type RecordForm = "record" | "selection" | "create" | "update" | "where";

/** What owners of routes describe them with, to one reader. */
export interface RouteReader {
  /** The reader's scope: only what they may use is described. Its masks are final. */
  readonly scope: OperationScope;
  /** Whether the reader may read records of an entity, all or some. */
  reads(entity: AnyEntity): boolean;
  /**
   * The schema of an entity's records, with the fields that the reader may use. Routes answer with "record", also where
   * `select` leaves fields out: docs/adr/0080-describe-the-whole-record.md
   */
  record(entity: AnyEntity, form: RecordForm): JsonSchema;
  /** The schema of an object with some fields, sent by the reader or shown to them. */
  fields(fields: Readonly<Record<string, FieldDefinition>>, side: "input" | "output"): JsonSchema;
}

/** The service `openapi.routes`: for plugins whose hooks respond in place of routes, to describe those responses. */
export interface RouteNotes {
  /** Adds errors and parameters to the routes for which it gives some. */
  add(note: (route: Route) => Pick<RouteDescription, "errors" | "parameters"> | undefined): void;
}

/** The token of RouteNotes. */
export const RouteNotes: ServiceToken<RouteNotes> = token("openapi.routes");

/**
 * Describes a route to a reader who may use it; undefined when the reader may not see it, or when it is not for
 * documentation. The description is cached for readers with the same rights. If it uses more of the scope than masks
 * and decisions, such as the user or a service, the document is built for each request.
 */
export type DescribeRoute = (
  reader: RouteReader,
) => RouteDescription | undefined | Promise<RouteDescription | undefined>;
