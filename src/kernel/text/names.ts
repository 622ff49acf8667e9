import plural from "pluralize";
import { kebabCase } from "./case.ts";

// The library follows Latin where programmers do not: schema -> schemata, API -> APIS, metadata -> metadatum.
const SAME = /(?:metadata|criteria)$/i;
const PLAIN_S = /(?:schema|API)$/i;
const PLAIN_S_PLURAL = /(?:schema|API)s$/i;

/** Longer names are returned as they are: matching the library's patterns takes longer the longer a name is. */
const LONGEST = 256;

/** The plural of an English noun. */
export function pluralize(name: string): string {
  if (name.length > LONGEST || SAME.test(name)) return name;
  return PLAIN_S.test(name) ? `${name}s` : plural.plural(name);
}

/** The singular of an English noun. */
export function singularize(name: string): string {
  if (name.length > LONGEST || SAME.test(name)) return name;
  return PLAIN_S_PLURAL.test(name) ? name.slice(0, -1) : plural.singular(name);
}

/** The path segment of an entity: its plural in kebab-case (`orderItem` -> `order-items`). */
export function routeSegment(entity: { readonly name: string; readonly plural?: string | undefined }): string {
  return kebabCase(entity.plural ?? pluralize(entity.name));
}
