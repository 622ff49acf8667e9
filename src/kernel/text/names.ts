import { kebabCase } from "change-case";
import plural from "pluralize";

export { camelCase, kebabCase, pascalCase, snakeCase } from "change-case";

// The library uses Latin forms where programmers do not: schema -> schemata, API -> APIS, metadata -> metadatum.
const SAME = /(?:metadata|criteria)$/i;
const PLAIN_S = /(?:schema|API)$/i;
const PLAIN_S_PLURAL = /(?:schema|API)s$/i;

/** Longer names are returned unchanged: the library's pattern matching slows down with the length of a name. */
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

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const ENTITY_NAME = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/;

/** Returns the text with its first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether the text is a valid variable name (ASCII letters, digits, `_` and `$`). */
export function isValidIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** Whether the text is a valid entity name: letters, digits and single underscores, starting with a letter. */
export function isValidEntityName(text: string): boolean {
  return ENTITY_NAME.test(text);
}
