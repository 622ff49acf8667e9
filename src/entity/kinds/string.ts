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
 * A text as a cell of CSV: with a `'` before what a spreadsheet would run as a formula. A text that already begins with
 * one gets another, so that removing one always restores the text.
 */
function toTextCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text of a cell that `toTextCell` made, or that was written without guards. */
function fromTextCell(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

/** A kind of text. */
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

/** Record ids and foreign keys: opaque text, at most 128 characters, compared by equality and order, never searched. */
export const idKind: FieldKind<string> = textual(
  "id",
  128,
  { scalar: "String", native: { postgresql: "VarChar(128)", mysql: "VarChar(128)" } },
  { searchable: false },
);

/** Length as a person counts it: code points, not UTF-16 units. */
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

/** A lone surrogate would be stored as U+FFFD, a NUL is refused by PostgreSQL: so both are refused here. */
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

/** Bytes of UTF-8 that a submitted password may have: the column only stores the hash. */
const PASSWORD_BYTES = 1_024;
/** The shortest password in code points, unless `.min()` sets another length. ASVS 5.0, 6.2.1. */
const PASSWORD_MIN: Bound = { value: 8 };

function leastOf({ min, length, password }: FieldDefinition): Bound | undefined {
  return min ?? (password === undefined || length ? undefined : PASSWORD_MIN);
}

const encoder = new TextEncoder();

/** A UTF-16 unit is at least one byte, so a text that is far too long is not encoded. */
function atMostBytes(bytes: number): Check {
  const issue = { message: `must be at most ${bytes} bytes`, code: "too_big" } as const;
  return (text) => (text.length > bytes || encoder.encode(text).length > bytes ? issue : undefined);
}

const emailFormat = z.email();
// The URL parser drops tabs and newlines, trims, and turns "\\" into "/": the stored text should be what the parser
// understood.
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
    // A copy, put back to the start each time: with g or y, `test` would continue where the previous request left off.
    const pattern = new RegExp(regex);
    checks.push((text) => {
      pattern.lastIndex = 0;
      return pattern.test(text) ? undefined : { message: message ?? "has the wrong format", code: "invalid_format" };
    });
  }
  return checks;
}

/** What the modifiers that change a text do, in the order in which they do it. */
const TEXT_CHANGES: Readonly<Record<TextChange, (text: string) => string>> = {
  trim: (text) => text.trim(),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
};

/** A text as its field stores it. */
export function changedText({ changes }: FieldDefinition, text: string): string {
  return Object.entries(TEXT_CHANGES).reduce(
    (changed, [name, change]) => (changes.includes(name as TextChange) ? change(changed) : changed),
    text,
  );
}

/** Schema of a textual field: normalise (trim, case) first, then check, so that `.trim().min(3)` refuses three spaces. */
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

/** A text has one format; that of an e-mail address is more specific than that of its kind. */
function formatOf({ formats, password }: FieldDefinition): Record<string, string> {
  const [format] = formats;
  if (format === undefined) return password === undefined ? {} : { format: "password" };
  return { format: format === "url" ? "uri" : format };
}

/** Patterns that mean the same without flags, in the Unicode mode that JSON Schema reads them in. */
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

/** Sorts surrogates, which stand for the highest code points, after all other UTF-16 units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Code-point order, the order of databases with a binary or C collation; `<` would compare UTF-16 units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
