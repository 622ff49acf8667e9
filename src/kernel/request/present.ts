import type { KeelsonError } from "../../entity/base/keelson-error.ts";
import { InternalError } from "../errors/errors.ts";

/**
 * The key of a mark: objects that have it are presented by `Presenter.marked`, and omitted without that function. It is
 * enumerable, so that `{ ...record }` keeps it; a symbol, so that JSON never contains it.
 */
export const kMarked: unique symbol = Symbol("keelson.record");

/** Options for presenting a value. */
export interface Presenter {
  /** Whether datetimes become ISO 8601 text, as in JSON; for in-process callers they stay `Date`s. */
  readonly wire: boolean;
  /** Presents an object with a mark. @default the object is omitted */
  marked?(value: object, depth: number): unknown;
}

/** Maximum nesting depth of results. Deeper ones would overflow the stack; circular ones also end here. */
const MAX_DEPTH = 64;

/** Refuses a value that is nested too deeply or circular. @throws InternalError */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new InternalError("The result is nested too deeply, or circular");
}

/**
 * Converts a value to plain JSON data. Every object with a mark, at any depth, is replaced by the result of
 * `presenter.marked`.
 * @throws InternalError for a value that is nested too deeply or circular
 */
export function presentPlain(value: unknown, presenter: Presenter, depth = 0): unknown {
  if (typeof value === "function") return undefined; // JSON would call its `toJSON`
  if (typeof value === "bigint") return presenter.wire ? String(value) : value; // JSON has no 64-bit integers
  if (typeof value !== "object" || value === null) return value;
  checkDepth(depth);
  if (Array.isArray(value)) return presentAll(value, presenter, depth);
  if ((value as { readonly [kMarked]?: unknown })[kMarked] !== undefined) return presenter.marked?.(value, depth);
  if (value instanceof Date)
    return presenter.wire ? (Number.isNaN(value.getTime()) ? null : value.toISOString()) : value;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return presentPlain((value as { toJSON(): unknown }).toJSON(), presenter, depth + 1);
  if (value instanceof Map) return presentPlain(Object.fromEntries(value), presenter, depth + 1);
  if (value instanceof Set) return presentPlain([...value], presenter, depth + 1);
  const plain: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    plain[name] = presentPlain((value as Record<string, unknown>)[name], presenter, depth + 1);
  return plain;
}

function presentAll(items: readonly unknown[], presenter: Presenter, depth: number): unknown[] {
  const all = new Array<unknown>(items.length);
  for (let i = 0; i < items.length; i++) all[i] = presentPlain(items[i], presenter, depth + 1);
  return all;
}

/** An error's body as plain JSON data. */
export type ErrorContent = Readonly<Record<string, unknown>>;

/**
 * A Keelson error's body without marked objects. An error that cannot be serialized to JSON is reduced to its code,
 * message and status.
 */
export function errorContent(error: KeelsonError): ErrorContent {
  try {
    return tellable(presentPlain(error.toJSON(), { wire: true }));
  } catch {
    return bareContent(error);
  }
}

/** @throws TypeError for a value that cannot be serialized to JSON */
export function tellable(plain: unknown): ErrorContent {
  JSON.stringify(plain);
  return plain as ErrorContent;
}

/** The minimal body of an error. */
export function bareContent({ code, message, status }: KeelsonError): ErrorContent {
  return { code, message, status };
}
