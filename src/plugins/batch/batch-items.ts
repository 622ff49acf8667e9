import { isObject } from "../../entity/index.ts";
import { BadRequestError } from "../../kernel/index.ts";

/** One change of a batch. */
export interface BatchItem {
  readonly method: string;
  /** Relative to the API's root, with an optional query string. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const MEMBERS: ReadonlySet<string> = new Set(["method", "path", "body", "headers"]);

/** Reads the items of a body. @throws BadRequestError naming the first invalid item */
export function readItems(body: unknown, most: number): readonly BatchItem[] {
  if (!Array.isArray(body)) throw new BadRequestError("A batch is a list of items, such as [{ method, path, body }]");
  if (body.length > most) throw new BadRequestError(`A batch has at most ${most} items`);
  return body.map((item: unknown, index) => {
    const wrong = problemOf(item);
    if (wrong !== undefined) throw new BadRequestError(`Item ${index}: ${wrong}`);
    return item as BatchItem;
  });
}

function problemOf(item: unknown): string | undefined {
  if (!isObject(item)) return "an item is an object with method and path";
  const unknown = Object.keys(item).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return `an item has no "${unknown.slice(0, 40)}"`;
  const { method, path, headers = {} } = item;
  if (typeof method !== "string" || !METHODS.has(method)) return `the method is one of ${[...METHODS].join(", ")}`;
  if (typeof path !== "string" || !path.startsWith("/")) return 'the path begins with "/", such as "/orders"';
  if (!isObject(headers) || Object.values(headers).some((value) => typeof value !== "string"))
    return "the headers are texts by name";
  return undefined;
}

/** Member names under which a nested write names existing records. */
const NAMING: ReadonlySet<string> = new Set(["connect", "disconnect", "set", "update", "delete"]);
/** The most ids that are collected from one batch. */
const MOST_NAMED = 1_000;

/** The ids of existing records in nested writes of a batch. */
export function idsIn(items: readonly BatchItem[]): readonly string[] {
  const found = new Set<string>();
  const collect = (value: unknown, isNamed: boolean): void => {
    if (found.size >= MOST_NAMED) return;
    if (typeof value === "string" && isNamed) found.add(value);
    else if (Array.isArray(value)) for (const item of value) collect(item, isNamed);
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value))
        collect(inner, NAMING.has(name) || name.endsWith("Ids") || (isNamed && name === "id"));
  };
  for (const { body } of items) collect(body, false);
  return [...found];
}

const REFERENCE = /^\$(\d{1,4})\.(\w+(?:\.\w+)*)$/;
const IN_PATH = /\$(\d{1,4})\.(\w+)/g;

/** The most characters of a value in a path, which is enough for ids and keys. */
const LONGEST_IN_PATH = 1_024;

/** Limits the size of all references in a batch: a short reference can insert a long value, many times. */
export class References {
  #left: number;
  readonly #most: number;

  /** @param most the most characters of all referenced values together, as for a body */
  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  /** Counts a referenced value. @throws BadRequestError above the limit */
  take(value: unknown): void {
    this.#left -= String(value).length;
    if (this.#left < 0) throw new BadRequestError(`The references of a batch bring at most ${this.#most} characters`);
  }
}

/**
 * Replaces the references in an item: `"$0.id"` becomes the id in the response of item 0. A text that begins with `$$`
 * is a literal; the first `$` is removed.
 * @param references counts the references of the whole batch
 * @throws BadRequestError for a missing response or member, and above the limit of references
 */
export function resolveItem(item: BatchItem, answers: readonly unknown[], references: References): BatchItem {
  const find = (index: string, path: string): unknown => {
    let value = answers[Number(index)];
    for (const name of path.split(".")) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (value === undefined || isObject(value) || Array.isArray(value))
      throw new BadRequestError(`"$${index}.${path}" is not a value in the response of an earlier item`);
    references.take(value);
    return value;
  };
  const resolve = (value: unknown): unknown => {
    if (typeof value === "string") {
      if (value.startsWith("$$")) return value.slice(1);
      const [, index, path] = REFERENCE.exec(value) ?? [];
      return index === undefined || path === undefined ? value : find(index, path);
    }
    if (Array.isArray(value)) return value.map(resolve);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]));
  };
  const inPath = (index: string, name: string): string => {
    const text = String(find(index, name));
    if (text.length <= LONGEST_IN_PATH) return encodeURIComponent(text);
    throw new BadRequestError(`"$${index}.${name}" is too long to be part of a path`);
  };
  const path = item.path.replace(IN_PATH, (_, index: string, name: string) => inPath(index, name));
  return { ...item, path, body: resolve(item.body) };
}
