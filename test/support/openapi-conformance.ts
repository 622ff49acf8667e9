import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { OpenApiDocument } from "keelson/openapi";

/** A response with its request. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as requested. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Schema = Readonly<Record<string, unknown>>;
interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** Headers of all responses, independent of the route. */
const COMMON = new Set(["x-content-type-options", "cache-control", "vary", "content-type", "content-length", "allow"]);

/**
 * Compares a response with a document: an undocumented route, status, type, header or member of the body, or an invalid
 * value is a problem. Members that schemas leave open are problems too.
 */
export function createConformance(document: OpenApiDocument): (exchange: Exchange) => string[] {
  // A document is not a schema, only has some: the schema of schemas would find nothing in it, and takes long to compile.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, meta: false });
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addFormat("decimal", true);
  const compiled = new Map<string, ValidateFunction>();
  const patterns = patternsOf(document);

  function validate(pointer: string, isPart: boolean): ValidateFunction {
    // With `select`, and after writes of callers who may not read the record: docs/adr/0080-describe-the-whole-record.md
    const $id = isPart ? "selected:" : "document:";
    if (ajv.schemas[$id] === undefined)
      ajv.addSchema({ $id, ...(closed(isPart ? withoutRequired(document) : document) as object) });
    const $ref = `${$id}#${pointer}`;
    const known = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, known);
    return known;
  }

  return ({ method, url, status, headers, text }) => {
    const at = `${method} ${url} -> ${status}`;
    const path = findPath(patterns, (url.split("?", 1)[0] as string).replace(/\/$/, ""));
    const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
    if (path === undefined || operation === undefined) return [`${at}: not documented`];
    const { responses } = operation;
    const key = [String(status), "default"].find((name) => Object.hasOwn(responses, name));
    if (key === undefined) return [`${at}: the status is not documented`];
    const { pointer, value } = follow(document, ["paths", path, method.toLowerCase(), "responses", key]);
    const { content, headers: documented = {} } = value as DocumentedResponse;
    const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    const strangers = [...headers.keys()].filter((name) => !COMMON.has(name) && !names.has(name));
    const problems = strangers.map((name) => `${at}: the header ${name} is not documented`);
    const type = headers.get("content-type")?.split(";", 1)[0] as string;
    if (content?.["*/*"] !== undefined) return problems;
    if (text === "") return content === undefined || status === 204 ? problems : [...problems, `${at}: no body`];
    if (content === undefined || content[type] === undefined) return [...problems, `${at}: ${type} is not documented`];
    if (!/[/+]json$/.test(type)) return problems;
    const body: unknown = JSON.parse(text);
    const isPart = status < 400 && (/[?&]select(=|%3D)/.test(url) || (method !== "GET" && isOnlyId(body)));
    const check = validate(`${pointer}/content/${type.replaceAll("/", "~1")}/schema`, isPart);
    if (check(body)) return problems;
    return [...problems, ...(check.errors ?? []).map((error) => `${at}: ${error.instancePath} ${error.message}`)];
  };
}

function isOnlyId(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).join() === "id";
}

type Patterns = readonly { readonly path: string; readonly pattern: RegExp }[];

/** The paths of a document; static segments take precedence. */
function patternsOf({ paths }: OpenApiDocument): Patterns {
  const depth = (path: string): number => path.split("{").length;
  return Object.keys(paths)
    .sort((a, b) => depth(a) - depth(b) || Number(b.includes("}:")) - Number(a.includes("}:")))
    .map((path) => ({
      path,
      pattern: new RegExp(
        `^${path.replaceAll(".", "\\.").replaceAll(/\{[^}]+\}/g, isRest(paths[path]) ? ".+" : "[^/]+")}$`,
      ),
    }));
}

/** Whether a path parameter covers the rest of the path. */
function isRest(operations: OpenApiDocument["paths"][string] | undefined): boolean {
  return JSON.stringify(operations ?? {}).includes("All that follows in the path");
}

/** The document's path that matches a request path. */
function findPath(patterns: Patterns, path: string): string | undefined {
  return patterns.find(({ pattern }) => pattern.test(path))?.path;
}

/** The value at a place in a document, and its pointer, with a reference resolved. */
function follow(document: OpenApiDocument, keys: readonly string[]): { pointer: string; value: unknown } {
  let value: unknown = document;
  for (const key of keys) value = (value as Record<string, unknown>)[key];
  const { $ref } = value as { readonly $ref?: string };
  if ($ref !== undefined) return follow(document, $ref.slice(2).split("/"));
  return {
    pointer: keys.map((key) => `/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join(""),
    value,
  };
}

/** The same document with all members optional. */
function withoutRequired(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRequired);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, inner]) => key !== "required" || !Array.isArray(inner));
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutRequired(child)]));
}

/** The same document without additional members. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, closed(child)]));
  const isObject = copy.type === "object" && typeof copy.properties === "object";
  return isObject && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}
