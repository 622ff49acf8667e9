import { ConfigurationError } from "../../entity/index.ts";
import type { User } from "../../kernel/index.ts";
import type { OpenApiDocument } from "./document.ts";
import type { DocumentInfo } from "./openapi-options.ts";

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
