import { ConfigurationError, type JsonSchema, type RuleRef } from "../../entity/index.ts";
import type { User } from "../../kernel/index.ts";

/** Service: a {@link DocumentMaker}, for `openapiDocument`. */
export const DOCUMENT_SERVICE = "openapi.document";

/** What `openapiDocument` takes. */
export interface DocumentOptions {
  /**
   * The reader of the document: an anonymous caller ("public"), a user, or "system" for everything that the rules may
   * allow.
   * @default "system"
   */
  readonly as?: "public" | "system" | User | undefined;
  /** Over what the plugin was given. */
  readonly info?: DocumentInfo | undefined;
}

/** Makes documents of one app. */
export type DocumentMaker = (options: DocumentOptions) => Promise<OpenApiDocument>;

/** The part of an app that is asked. */
interface DocumentedApp {
  hasService(name: string): boolean;
  resolve<T>(name: string): T;
}

/**
 * The OpenAPI document of an app, also of one that has not started, or that cannot reach its database: rules that ask it
 * say no then.
 * @throws ConfigurationError when the app has no plugin "openapi"
 * @throws UnavailableError when the app is closed
 * @example
 * writeFileSync("openapi.json", JSON.stringify(await openapiDocument(api, { as: "public" }), null, 2))
 */
export async function openapiDocument(api: DocumentedApp, options: DocumentOptions = {}): Promise<OpenApiDocument> {
  if (!api.hasService(DOCUMENT_SERVICE))
    throw new ConfigurationError('The app has no plugin "openapi", which is one of the default ones');
  return await api.resolve<DocumentMaker>(DOCUMENT_SERVICE)(options);
}

/** What the document says about the API as a whole. */
export interface DocumentInfo {
  /** @default "API" */
  readonly title?: string | undefined;
  /** Of the API, not of the framework. @default "1.0.0" */
  readonly version?: string | undefined;
  /** Markdown. @default none */
  readonly description?: string | undefined;
  /** Who answers questions about the API. @default none */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string } | undefined;
  /** The terms under which the API may be used. @default none */
  readonly license?: { readonly name: string; readonly url?: string; readonly identifier?: string } | undefined;
}

/** Options of `openapi`. */
export interface OpenApiOptions {
  readonly info?: DocumentInfo | undefined;
  /** Whether the document is served. @default outside production, or where `docs` asks for the page */
  readonly served?: boolean | undefined;
  /** Where the document is, from the root. @default "/openapi.json" */
  readonly path?: string | undefined;
  /** Whether there is a page with Swagger UI, and where. @default outside production, at "/docs" */
  readonly docs?: boolean | { readonly path: string } | undefined;
  /** Who may have document and page; what they see in it depends on who they are in any case. @default everyone */
  readonly rules?: readonly RuleRef[] | undefined;
  /** Base URLs of the API, when it is called from elsewhere. @default `/`, the root of where the document is */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[] | undefined;
  /** What tags are for, by name; Markdown. @default a sentence that names the entity or the plugin */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /**
   * How callers authenticate, as OpenAPI security schemes by name; any one of them suffices. `{}` for none.
   * @default `bearer`, a token in `Authorization`, where a route is not for everyone
   */
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** One operation of the document: a method on a path. */
export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** A document of OpenAPI 3.1, as plain JSON data. */
export interface OpenApiDocument {
  readonly openapi: "3.1.1";
  readonly info: DocumentInfo & { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, JsonSchema>>;
    readonly headers: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes?: Readonly<Record<string, JsonSchema>>;
  };
}
