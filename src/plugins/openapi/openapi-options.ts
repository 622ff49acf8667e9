import type { RuleRef } from "../../entity/index.ts";

/** What the document says about the API as a whole. */
export interface DocumentInfo {
  /** @default "API" */
  readonly title?: string | undefined;
  /** Of the API, not of the framework. @default "1.0.0" */
  readonly version?: string | undefined;
  /** Markdown. @default none */
  readonly description?: string | undefined;
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
  /** Base URLs of the API, when it is called from elsewhere. @default where the document is */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[] | undefined;
  /**
   * How callers authenticate, as OpenAPI security schemes by name; any one of them suffices. `{}` for none.
   * @default `bearer`, a token in `Authorization`, where a route is not for everyone
   */
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}
