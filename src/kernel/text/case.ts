export { camelCase, kebabCase, pascalCase, snakeCase } from "change-case";

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const ENTITY_NAME = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/;

/** The text with its first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether the text could name a variable (ASCII letters, digits, `_` and `$`). */
export function isValidIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** Whether the text could name an entity: letters, digits and single underscores, beginning with a letter. */
export function isValidEntityName(text: string): boolean {
  return ENTITY_NAME.test(text);
}
