import * as z from "zod";
import {
  type Bound,
  type FieldDefinition,
  type FieldKind,
  type Parsed,
  parsed,
  type TextChange,
  unreadable,
} from "./kind.ts";
import { TEXT_OPERATORS } from "./operators.ts";

/** Characters that start a formula in spreadsheets, wide ones included, and the quote that prevents one. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/;

/**
 * Converts a text to a CSV cell, with a `'` before texts that a spreadsheet would run as a formula. A text that already
 * starts with one gets another, so that removing one always restores the text.
 */
function toTextCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Restores the text of a cell that `toTextCell` made, or that was written without guards. */
function fromTextCell(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

/** Makes a kind of text. */
export function textual(
  name: string,
  limit: number,
  column: FieldKind["column"],
  overrides: Partial<FieldKind<string>> = {},
): FieldKind<string> {
  const parse: FieldKind<string>["parse"] = overrides.parse ?? parseText;
  return Object.freeze<FieldKind<string>>({
    name,
    column,
    operators: TEXT_OPERATORS,
    sortable: true,
    searchable: true,
    parse,
    accepts: (value): value is string => typeof value === "string" && isStorableText(value),
    schema: (field) => stringSchema(field, limit),
    compare: compareText,
    toCell: toTextCell,
    fromCell: (text) => parse(fromTextCell(text)),
    ...overrides,
  });
}

function parseText(text: string): Parsed<string> {
  return isStorableText(text) ? parsed(text) : unreadable("must be well-formed text");
}

export const VARCHAR_255 = { scalar: "String", native: { postgresql: "VarChar(255)", mysql: "VarChar(255)" } } as const;

/** Short text, at most 255 code points; VARCHAR(255). Spec 2.2, section 8. */
export const stringKind: FieldKind<string> = textual("string", 255, VARCHAR_255);

/** Long text, at most 1 MiB of characters; TEXT. Spec 2.2. */
export const textKind: FieldKind<string> = textual("text", 1_048_576, {
  scalar: "String",
  native: { postgresql: "Text", mysql: "MediumText" },
});

/** An e-mail address, at most 255 characters; VARCHAR(255). Spec 2.2. */
export const emailKind: FieldKind<string> = textual("email", 255, VARCHAR_255, {
  schema: (field) => stringSchema({ ...field, formats: ["email", ...field.formats] }, 255),
});

/** Record ids and foreign keys: opaque text, at most 128 characters, with equality and order, excluded from search. */
export const idKind: FieldKind<string> = textual(
  "id",
  128,
  { scalar: "String", native: { postgresql: "VarChar(128)", mysql: "VarChar(128)" } },
  { searchable: false },
);

/** The length in code points, not in UTF-16 units. */
function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      count--;
      i++;
    }
  }
  return count;
}

/** Refuses lone surrogates, which would be stored as U+FFFD, and NUL, which PostgreSQL refuses. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

type Issue = { readonly message: string; readonly code?: "too_small" | "too_big" | "invalid_format" };
type Check = (text: string) => Issue | undefined;

function atLeast(bound: Bound): Check {
  const message = bound.message ?? `must be at least ${bound.value} ${bound.value === 1 ? "character" : "characters"}`;
  return (text) => (codePoints(text) < bound.value ? { message, code: "too_small" } : undefined);
}

function atMost(bound: Bound): Check {
  const message = bound.message ?? `must be at most ${bound.value} ${bound.value === 1 ? "character" : "characters"}`;
  return (text) =>
    text.length > bound.value && codePoints(text) > bound.value ? { message, code: "too_big" } : undefined;
}

/** Maximum length of a submitted password in bytes of UTF-8: the column only stores the hash. */
const PASSWORD_BYTES = 1_024;
/** The shortest password in code points, unless `.min()` sets another length. ASVS 5.0, 6.2.1. */
const PASSWORD_MIN: Bound = { value: 8 };

function leastOf({ min, length, password }: FieldDefinition): Bound | undefined {
  return min ?? (password === undefined || length ? undefined : PASSWORD_MIN);
}

const encoder = new TextEncoder();

/**
 * Limits the bytes of a text. Since a UTF-16 unit is at least one byte, texts that are far too long are not encoded.
 */
function atMostBytes(bytes: number): Check {
  const issue = { message: `must be at most ${bytes} bytes`, code: "too_big" } as const;
  return (text) => (text.length > bytes || encoder.encode(text).length > bytes ? issue : undefined);
}

const emailFormat = z.email();
// The URL parser removes tabs and newlines, trims, and turns "\\" into "/": the stored text should be the one that was
// parsed.
const HTTP_URL = /^https?:\/\/[^\s\\\p{Cc}]+$/iu;

function isHttpUrl(text: string): boolean {
  return HTTP_URL.test(text) && URL.canParse(text);
}

function checksOf(field: FieldDefinition, limit: number): Check[] {
  const checks: Check[] = [
    (text) => (isStorableText(text) ? undefined : { message: "must be well-formed text without NUL characters" }),
    field.password === undefined ? atMost({ value: limit }) : atMostBytes(PASSWORD_BYTES),
  ];
  const least = leastOf(field);
  if (least) checks.push(atLeast(least));
  if (field.max) checks.push(atMost(field.max));
  if (field.length) checks.push(atLeast(field.length), atMost(field.length));
  for (const format of field.formats) {
    if (format === "email") {
      checks.push((text) =>
        emailFormat.safeParse(text).success
          ? undefined
          : { message: "must be an e-mail address", code: "invalid_format" },
      );
    } else {
      checks.push((text) =>
        isHttpUrl(text) ? undefined : { message: "must be an http or https URL", code: "invalid_format" },
      );
    }
  }
  for (const { regex, message } of field.patterns) {
    // A copy that is reset each time: with g or y, `test` would continue where the previous call stopped.
    const pattern = new RegExp(regex);
    checks.push((text) => {
      pattern.lastIndex = 0;
      return pattern.test(text) ? undefined : { message: message ?? "has the wrong format", code: "invalid_format" };
    });
  }
  return checks;
}

/** The changes of text modifiers, in the order in which they are applied. */
const TEXT_CHANGES: Readonly<Record<TextChange, (text: string) => string>> = {
  trim: (text) => text.trim(),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
};

/** Applies a field's changes to a text. */
export function changedText({ changes }: FieldDefinition, text: string): string {
  return Object.entries(TEXT_CHANGES).reduce(
    (changed, [name, change]) => (changes.includes(name as TextChange) ? change(changed) : changed),
    text,
  );
}

/**
 * The schema of a text field: changes (trim, case) are applied before checks, so that `.trim().min(3)` refuses three
 * spaces.
 */
export function stringSchema(field: FieldDefinition, limit: number): z.ZodType {
  let base = z.string({ error: "must be a string" });
  if (field.changes.length > 0) base = base.overwrite((text) => changedText(field, text));
  const checks = checksOf(field, limit);
  return base
    .check((ctx) => {
      for (const check of checks) {
        const issue = check(ctx.value);
        if (issue === undefined) continue;
        ctx.issues.push({ code: "custom", message: issue.message, input: ctx.value, params: { code: issue.code } });
        return;
      }
    })
    .meta({
      minLength: (field.length ?? leastOf(field))?.value,
      maxLength: (field.length ?? field.max)?.value ?? (field.password === undefined ? limit : PASSWORD_BYTES),
      ...formatOf(field),
      ...patternsOf(field),
    });
}

/** JSON Schema supports one format; a field's own format takes precedence. */
function formatOf({ formats, password }: FieldDefinition): Record<string, string> {
  const [format] = formats;
  if (format === undefined) return password === undefined ? {} : { format: "password" };
  return { format: format === "url" ? "uri" : format };
}

/** Patterns that have the same meaning without flags, in the Unicode mode that JSON Schema uses. */
function patternsOf({ patterns }: FieldDefinition): Record<string, unknown> {
  const sources = patterns.filter(({ regex }) => isPlainPattern(regex)).map(({ regex }) => regex.source);
  return sources.length === 1
    ? { pattern: sources[0] }
    : sources.length === 0
      ? {}
      : { allOf: sources.map((pattern) => ({ pattern })) };
}

function isPlainPattern({ source, flags }: RegExp): boolean {
  if (/[^dgu]/.test(flags)) return false;
  try {
    return new RegExp(source, "u").source === source;
  } catch {
    return false;
  }
}

/** Sorts surrogates, which encode the highest code points, after all other UTF-16 units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Units from the first surrogate on. */
const HIGH_UNIT = /[\ud800-\uffff]/;

/**
 * Compares by code points, like databases with a binary or C collation; `<` compares UTF-16 units, which gives another
 * order only if both texts have units from the first surrogate on.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (!HIGH_UNIT.test(a) || !HIGH_UNIT.test(b)) return a < b ? -1 : 1;
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}
