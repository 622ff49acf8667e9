import type { KeelsonError } from "../../entity/base/keelson-error.ts";
import { InternalError } from "../errors/errors.ts";

/**
 * Key of a mark: an object that has it is shown by `Presenter.marked`, and left out without that function. It is
 * enumerable, so that `{ ...record }` keeps it; a symbol, so that JSON never shows it.
 */
export const kMarked: unique symbol = Symbol("keelson.record");

/** How a value is shown. */
export interface Presenter {
  /** Whether datetimes become ISO 8601 text, as in JSON; for in-process callers they stay `Date`s. */
  readonly wire: boolean;
  /** Shows an object with a mark. @default it is left out */
  marked?(value: object, depth: number): unknown;
}

/** Deeper results are refused before they overflow the stack; circular ones end here too. */
const MAX_DEPTH = 64;

/** Refuses a value that is nested too deeply or circular. @throws InternalError */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new InternalError("The result is nested too deeply, or circular");
}

/**
 * A value as plain JSON data, in which every object with a mark, at any depth, is what the presenter makes of it.
 * @throws InternalError for a value that is nested too deeply or circular
 */
export function presentPlain(value: unknown, presenter: Presenter, depth = 0): unknown {
  if (typeof value === "function") return undefined; // JSON would ask its `toJSON`
  if (typeof value === "bigint") return presenter.wire ? String(value) : value; // JSON has no such numbers
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
 * A Keelson error's body without marked objects. An error that cannot be written as JSON is reduced to its code and
 * message.
 */
export function errorContent(error: KeelsonError): ErrorContent {
  try {
    return tellable(presentPlain(error.toJSON(), { wire: true }));
  } catch {
    return bareContent(error);
  }
}

/** @throws TypeError for a value that cannot be written as JSON */
export function tellable(plain: unknown): ErrorContent {
  JSON.stringify(plain);
  return plain as ErrorContent;
}

/** The least that an error says. */
export function bareContent({ code, message, status }: KeelsonError): ErrorContent {
  return { code, message, status };
}
