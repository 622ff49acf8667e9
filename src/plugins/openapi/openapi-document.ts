import { ConfigurationError, type JsonSchema, type RuleRef } from "../../entity/index.ts";
import type { User } from "../../kernel/index.ts";

/** Service: a {@link DocumentMaker}, for `openapiDocument`. */
export const DOCUMENT_SERVICE = "openapi.document";

/** Options of `openapiDocument`. */
export interface DocumentOptions {
  /**
   * The reader of the document: an anonymous caller ("public"), a user, or "system" for everything that the rules may
   * allow.
   * @default "system"
   */
  readonly as?: "public" | "system" | User | undefined;
  /** Overrides the plugin's `info`. */
  readonly info?: DocumentInfo | undefined;
}

/** Makes documents of one app. */
export type DocumentMaker = (options: DocumentOptions) => Promise<OpenApiDocument>;

/** The part of an app that `openapiDocument` uses. */
interface DocumentedApp {
  hasService(name: string): boolean;
  resolve<T>(name: string): T;
}

/**
 * The OpenAPI document of an app. It also works for an app that has not started or cannot reach its database; rules
 * that need the database then deny.
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

/** General information about the API. */
export interface DocumentInfo {
  /** @default "API" */
  readonly title?: string | undefined;
  /** The version of the API, not of Keelson. @default "1.0.0" */
  readonly version?: string | undefined;
  /** Markdown. @default none */
  readonly description?: string | undefined;
  /** The contact for questions about the API. @default none */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string } | undefined;
  /** The terms under which the API may be used. @default none */
  readonly license?: { readonly name: string; readonly url?: string; readonly identifier?: string } | undefined;
}

/** Options of `openapi`. */
export interface OpenApiOptions {
  readonly info?: DocumentInfo | undefined;
  /** Whether the document is served. @default outside of production, and in production if `docs` enables the page */
  readonly served?: boolean | undefined;
  /** The path of the document, from the root. @default "/openapi.json" */
  readonly path?: string | undefined;
  /** Whether the page with Swagger UI is served, and its path. @default outside of production, at "/docs" */
  readonly docs?: boolean | { readonly path: string } | undefined;
  /**
   * Rules for reading the document and the page. The content depends on the reader's rights in any case. @default
   * everyone
   */
  readonly rules?: readonly RuleRef[] | undefined;
  /**
   * Base URLs of the API, if it is called from elsewhere. @default `/`, the root of the server that serves the document
   */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[] | undefined;
  /** Descriptions of tags by name, in Markdown. @default a sentence with the entity or the plugin */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /**
   * How callers authenticate, as OpenAPI security schemes by name. One of them is enough. `{}` for none.
   * @default `bearer`, a token in `Authorization`, if some routes are not open to everyone
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

/** An OpenAPI 3.1 document, as plain JSON data. */
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
