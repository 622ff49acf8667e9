import { BadRequestError } from "../errors/errors.ts";

/** Query parameters in their original order: each name with all its values, decoded once. */
export type QueryParameters = ReadonlyMap<string, readonly string[]>;

/** Maximum number of characters of names and values in messages. */
const SHOWN = 64;

/** Prepares a name from a request for a message: shortened and well-formed. */
export function shownName(name: string): string {
  return name.length <= SHOWN ? name.toWellFormed() : `${name.slice(0, SHOWN).toWellFormed()}…`;
}

/**
 * Splits a raw query string. Not URLSearchParams, which silently repairs broken escapes, so that two layers could read
 * the same string differently.
 * @param search without `?`
 * @param limit the maximum number of different names; repeated names are values of one parameter
 * @throws BadRequestError for broken escapes, NUL, lone surrogates and too many parameters
 */
export function readParameters(search: string, limit: number): QueryParameters {
  const parameters = new Map<string, string[]>();
  for (const part of search.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? "" : decode(part.slice(equals + 1));
    const values = parameters.get(name);
    if (values !== undefined) values.push(value);
    else if (parameters.size < limit) parameters.set(name, [value]);
    else throw new BadRequestError(`A query takes at most ${limit} parameters`);
  }
  return parameters;
}

function decode(raw: string): string {
  let text = raw.includes("+") ? raw.replaceAll("+", " ") : raw;
  if (text.includes("%")) {
    try {
      text = decodeURIComponent(text);
    } catch {
      throw new BadRequestError(`The query contains a broken escape in "${shownName(raw)}"`);
    }
  }
  if (text.includes("\u0000") || !text.isWellFormed())
    throw new BadRequestError("The query contains a character that is not allowed (NUL, or half of a surrogate pair)");
  return text;
}
