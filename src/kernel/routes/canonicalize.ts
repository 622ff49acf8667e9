import { BadRequestError } from "../errors/errors.ts";
import { decodeSegment } from "./match-route.ts";

/** A request's address after the one canonicalisation that all adapters share. */
export interface CanonicalUrl {
  /** Path with raw, still escaped segments that are safe to match, without a trailing slash. */
  readonly path: string;
  /** Raw query string without `?`. */
  readonly search: string;
}

const PLAIN = /^(?:\/[A-Za-z0-9_~-]+)+$/;

/**
 * Splits a raw URL once, on raw slashes. Empty, `.` and `..` segments, broken escapes, NUL, control characters and
 * slashes hidden in a segment are refused, so that no two layers can read one path differently.
 * @throws BadRequestError
 */
export function canonicalize(url: string, maxBytes: number): CanonicalUrl {
  if (url.length > maxBytes) throw new BadRequestError(`The URL is longer than ${maxBytes} bytes`);
  const hash = url.indexOf("#");
  const whole = hash === -1 ? url : url.slice(0, hash);
  const mark = whole.indexOf("?");
  let path = mark === -1 ? whole : whole.slice(0, mark);
  const search = mark === -1 ? "" : whole.slice(mark + 1);
  if (path.length > 1 && path.endsWith("/")) path = path.slice(0, -1);
  if (PLAIN.test(path) || path === "/" || path === "") return { path: path === "" ? "/" : path, search };
  if (!path.startsWith("/")) throw new BadRequestError("The path must begin with a slash");
  for (const segment of path.slice(1).split("/"))
    if (decodeSegment(segment) === undefined)
      throw new BadRequestError("The path contains a segment that is not allowed");
  return { path, search };
}

/** Decodes the parameters of a matched route; segments were checked by `canonicalize`. */
export function decodeParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const decoded: Record<string, string> = {};
  for (const name in params) {
    const value = decodeSegment(params[name] as string);
    if (value === undefined) throw new BadRequestError("The path contains a segment that is not allowed");
    decoded[name] = value;
  }
  return decoded;
}
