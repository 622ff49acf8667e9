// openapi: an OpenAPI 3.1 document of the API, and a page to read it with Swagger UI. Not part of the specification. It
// is built from entities, routes and the descriptions of routes.

import type { JsonSchema } from "../../entity/index.ts";
import { ruleName } from "../../entity/index.ts";
import {
  createPlugin,
  type OperationScope,
  type Plugin,
  type PluginContext,
  type RouteContext,
  type RouteDescription,
  RouteNotes,
} from "../../gate/index.ts";
import { BadRequestError, Reply, readParameters, unknownKeys } from "../../kernel/index.ts";
import { addDocsPage } from "./add-docs-page.ts";
import type { DocumentSource, Place } from "./build-document.ts";
import { createDocuments, type Documents } from "./create-documents.ts";
import { DOCUMENT_SERVICE, type DocumentMaker, type OpenApiDocument, type OpenApiOptions } from "./openapi-document.ts";

export type { OpenApiDocument, OpenApiOptions } from "./openapi-document.ts";
export { openapiDocument } from "./openapi-document.ts";

// No hooks. Routes: GET /openapi.json, and GET /docs with its files. In production both must be enabled.

/** Service: {@link RouteNotes}, for plugins whose hooks respond instead of routes. */

const KNOWN: Readonly<Record<keyof OpenApiOptions, true>> = {
  info: true,
  served: true,
  path: true,
  docs: true,
  rules: true,
  servers: true,
  tags: true,
  securitySchemes: true,
};

/** Adds `GET /openapi.json`, and `GET /docs` to read it. */
export function openapi(options: OpenApiOptions = {}): Plugin {
  return createPlugin({
    id: "openapi",
    version: "1.0.0",
    requires: ["rules"],
    setup(context) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) context.problem(`openapi: ${sentence}`);
      const notes: Parameters<RouteNotes["add"]>[0][] = [];
      const source: DocumentSource = { context, options, notes };
      context.provide(RouteNotes, () => ({ add: (note) => void notes.push(note) }));
      const documents = createDocuments(source);
      context.provide(DOCUMENT_SERVICE, () => documentMaker(source, documents));
      addRoutes(source, documents);
    },
  });
}

function addRoutes(source: DocumentSource, documents: Documents): void {
  const { context, options } = source;
  const { docs = !context.config.production, served = !context.config.production || docs !== false } = options;
  if (docs !== false && !served && options.docs !== undefined)
    context.problem("openapi: the page needs the document; leave out `served: false`, or say `docs: false`");
  if (!served) return;
  const path = options.path ?? "/openapi.json";
  const rules = (options.rules ?? ["everyone"]).flat().map(ruleName);
  context.routes.add({
    method: "GET",
    path,
    action: "document",
    rules,
    describe: describeDocument,
    handler: (request: RouteContext) => readDocument(source, documents, request),
  });
  if (docs === false) return;
  addDocsPage(context, {
    path: docs === true ? "/docs" : docs.path,
    document: path,
    rules,
    title: options.info?.title,
  });
}

function documentMaker({ context, options }: DocumentSource, documents: Documents): DocumentMaker {
  const { apiPrefix: prefix } = context.config;
  return ({ as = "system", info }) => {
    const make = async (scope: OperationScope): Promise<OpenApiDocument> => {
      const { body } = await documents(scope, { prefix, base: "" }, { ...options.info, ...info });
      return JSON.parse(new TextDecoder().decode(body)); // a copy that the caller may change
    };
    return context.runAs(as === "public" ? null : as, make, { early: true });
  };
}

/** The document changes with the caller's rights, so clients must revalidate it. */
const CACHED = Object.freeze({
  "content-type": "application/json; charset=utf-8",
  "cache-control": "private, no-cache",
});

/** The document for the caller, or with `?as=public` for an anonymous reader. */
async function readDocument(
  { context }: DocumentSource,
  documents: Documents,
  { search, scope, root, request }: RouteContext,
): Promise<Reply> {
  const place: Place = { prefix: root, base: request.base ?? "" };
  const { body, etag } = asksForPublic(search, context)
    ? await context.runAs(null, (anonymous) => documents(anonymous, place))
    : await documents(scope, place);
  const isKnown = namesTag(request.headers["if-none-match"], etag);
  return isKnown
    ? new Reply(304, undefined, { "cache-control": CACHED["cache-control"], etag })
    : new Reply(200, body, { ...CACHED, etag });
}

/** @throws BadRequestError for unknown parameters and invalid values */
function asksForPublic(search: string, { config }: PluginContext): boolean {
  const { _, as, ...others } = Object.fromEntries(readParameters(search, config.limits.parameters));
  if (Object.keys(others).length > 0 || (as !== undefined && (as.length > 1 || as[0] !== "public")))
    throw new BadRequestError('The document takes "as=public" and no other parameter');
  return as !== undefined;
}

const TAGGED = Object.freeze({ ETag: "Changes with the document." });

const OBJECT: JsonSchema = Object.freeze({ type: "object" });
const PARTS = Object.freeze({
  openapi: { type: "string" },
  info: OBJECT,
  servers: { type: "array", items: OBJECT },
  tags: { type: "array", items: OBJECT },
  paths: OBJECT,
  components: OBJECT,
});

function describeDocument(): RouteDescription {
  const parameter = {
    name: "as",
    schema: { enum: ["public"] },
    description: "Shows what callers without a name may use.",
  };
  const content = { "application/json": { type: "object", required: ["openapi", "info", "paths"], properties: PARTS } };
  return {
    operationId: "readOpenApi",
    summary: "Read this document",
    parameters: [parameter],
    answers: {
      200: { description: "What the caller may use.", content, headers: TAGGED },
      304: { description: "The document that `If-None-Match` names is still the caller's.", headers: TAGGED },
    },
  };
}

/**
 * Whether `If-None-Match` contains a tag, by weak comparison (RFC 9110 section 13.1.2).
 * @param header as it was sent; several headers are one list
 */
function namesTag(header: string | readonly string[] | undefined, etag: string): boolean {
  const names = (typeof header === "string" ? header : (header ?? []).join()).split(",").map((name) => name.trim());
  return names.some((name) => name === "*" || name.replace(/^W\//, "") === etag);
}
