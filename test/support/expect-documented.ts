import { type OpenApiDocument, openapiDocument } from "keelson/openapi";
import { createConformance, type Exchange } from "./openapi-conformance.ts";

type Api = Parameters<typeof openapiDocument>[0];
type Check = (exchange: Exchange) => string[];

/** Apps by where they are served, with the check of their answers once it is made. */
const served = new Map<string, { readonly api: Api; check?: Promise<Check> }>();

/** Answers of an app are held to its document from now on, if it has one. */
export function holdToDocument(url: string, api: object): void {
  if (isDocumented(api)) served.set(url, { api });
}

/** The app is served no more. */
export function releaseFromDocument(url: string): void {
  served.delete(url);
}

/**
 * Fails for an answer that the app's document does not have: its status, its type or its body. What is no route of the
 * document may be missing, and is not answered otherwise.
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

/** Routes that nobody may use, and paths that are no route's. */
function isElsewhere(problem: string): boolean {
  return / -> (400|401|403|404|405|503): not documented$/.test(problem);
}

function isDocumented(api: object): api is Api {
  const { hasService } = api as Partial<Api>;
  return typeof hasService === "function" && (api as Api).hasService("openapi.document");
}
