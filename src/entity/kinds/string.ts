import { type FieldKind, type Parsed, parsed, TEXT_OPERATORS, unreadable } from "./kind.ts";
import { compareText, isStorableText, stringSchema } from "./string-schema.ts";

/** What spreadsheets take for a formula, wide characters included, or for the quote that keeps a text from being one. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/;

/**
 * A text as a cell of CSV: with a `'` before what a spreadsheet would run as a formula. A
 * text that looks guarded already gets one more, so that taking one away always gives the text back.
 */
function toTextCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text of a cell that `toTextCell` made, or that was written without guards. */
function fromTextCell(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

function textual(
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

const VARCHAR_255 = { scalar: "String", native: { postgresql: "VarChar(255)", mysql: "VarChar(255)" } } as const;

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

/** One of a fixed list of words; VARCHAR(255), checked before the database. */
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
  });
}
