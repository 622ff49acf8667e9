import { type OpenApiDocument, openapiDocument } from "keelson/openapi";
import { createConformance, type Exchange } from "./openapi-conformance.ts";

type Api = Parameters<typeof openapiDocument>[0];
type Check = (exchange: Exchange) => string[];

/** Apps by origin, with the check of their responses once it is created. */
const served = new Map<string, { readonly api: Api; check?: Promise<Check> }>();

/** From now on, checks responses of an app against its OpenAPI document, if it has one. */
export function holdToDocument(url: string, api: object): void {
  if (isDocumented(api)) served.set(url, { api });
}

/** The app is no longer served. */
export function releaseFromDocument(url: string): void {
  served.delete(url);
}

/**
 * Fails for a response that the app's document does not describe: its status, its type or its body. A path that is not
 * in the document must return 404 or a similar error.
 */
export async function expectDocumented(url: string, exchange: Exchange): Promise<void> {
  const app = served.get(url);
  const { method } = exchange;
  if (app === undefined || method === "HEAD" || method === "OPTIONS") return;
  app.check ??= openapiDocument(app.api).then((document: OpenApiDocument) => createConformance(document));
  const problems = (await app.check)(exchange).filter(
    (problem) => !isElsewhere(problem) && !/: the header /.test(problem),
  );
  if (problems.length > 0) throw new Error(`The document says otherwise:\n${problems.join("\n")}`);
}

/** Denied routes, and paths that do not exist. */
function isElsewhere(problem: string): boolean {
  return / -> (400|401|403|404|405|503): not documented$/.test(problem);
}

function isDocumented(api: object): api is Api {
  const { hasService } = api as Partial<Api>;
  return typeof hasService === "function" && (api as Api).hasService("openapi.document");
}
