import { ConfigurationError } from "../base/keelson-error.ts";
import { type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { compareText, stringSchema, textual, VARCHAR_255 } from "./string.ts";

/** One of a fixed list of values; VARCHAR(255), validated before it is stored. */
export function enumKind(values: readonly string[]): FieldKind<string> {
  const allowed = new Set(values);
  const message = `must be one of ${values.join(", ")}`;
  return textual("enum", 255, VARCHAR_255, {
    searchable: false,
    parse: (text) => (allowed.has(text) ? parsed(text) : unreadable(message)),
    accepts: (value): value is string => typeof value === "string" && allowed.has(value),
    schema: (field) =>
      stringSchema(field, 255)
        .refine((value) => allowed.has(value as string), { error: message })
        .meta({ enum: [...values] }),
    native: (type) => nativeEnumKind(values, type),
  });
}

const encoder = new TextEncoder();

/** Maximum length of PostgreSQL's enum values in bytes. */
const MOST_BYTES = 63;

/** @throws ConfigurationError for values that a database cannot store unchanged */
function assertWords(words: readonly string[]): void {
  const unfit = words.find(
    (word) => word === "" || word !== word.trim() || encoder.encode(word).length > MOST_BYTES || /['\\]/.test(word),
  );
  if (unfit !== undefined)
    throw new ConfigurationError(
      `enums().native(): ${JSON.stringify(unfit)} cannot be a word of a native enum; use 1 to ${MOST_BYTES} bytes without quotes, backslashes and spaces at the ends, or leave out .native()`,
    );
  if (new Set(words).size < words.length)
    throw new ConfigurationError("enums().native(): a word is declared twice; remove one of the two");
}

/** An enum as a type of the database: ENUM, in the order of the declaration. */
function nativeEnumKind(words: readonly string[], type: string | undefined): FieldKind<string> {
  assertWords(words);
  const text = enumKind(words);
  const convert = (value: unknown): Parsed<string> => (typeof value === "string" ? text.parse(value) : text.parse(""));
  // Values that only the database declares sort before all others.
  const rank = new Map(words.map((word, index) => [word, index]));
  return Object.freeze({
    ...text,
    column: Object.freeze({ scalar: "Enum", words: Object.freeze([...words]), type }),
    convert,
    values: Object.freeze([...words]),
    compare: (a, b) => (rank.get(a) ?? -1) - (rank.get(b) ?? -1) || compareText(a, b),
  } satisfies FieldKind<string>);
}
