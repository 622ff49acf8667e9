import type { FieldKind } from "./kind.ts";
import { EQUALITY_OPERATORS, TEXT_OPERATORS } from "./operators.ts";
import { compareText } from "./string.ts";

const TEXT = { scalar: "String", native: { postgresql: "Text", mysql: "MediumText" } } as const;
const DIGEST = { scalar: "String", native: { postgresql: "VarChar(64)", mysql: "VarChar(64)" } } as const;

/**
 * The encrypted form of a kind: input and output are the kind's own, the column is TEXT and has no order. Conditions
 * may contain values of the kind, which are found by a blind index, or the stored text itself.
 */
export function encryptedKind({ values: _, item: __, next: ___, bounds: ____, ...kind }: FieldKind): FieldKind {
  return Object.freeze<FieldKind>({
    ...kind,
    column: TEXT,
    operators: EQUALITY_OPERATORS,
    hasPaths: false,
    sortable: false,
    searchable: false,
    accepts: (value): value is unknown => typeof value === "string" || kind.accepts(value),
    compare: (a, b) => (typeof a === "string" && typeof b === "string" ? compareText(a, b) : kind.compare(a, b)),
  });
}

/** The kind of the words of a searchable field: text of any length, searched by the start of words. */
export function wordsKind(text: FieldKind<string>): FieldKind {
  return Object.freeze({
    ...text,
    name: "words",
    column: TEXT,
    operators: TEXT_OPERATORS,
    sortable: false,
    searchable: false,
  }) as FieldKind;
}

/** The kind of a blind index: 43 characters of base64url, equality only. */
export function blindIndexKind(text: FieldKind<string>): FieldKind {
  return Object.freeze({
    ...text,
    name: "blindIndex",
    column: DIGEST,
    operators: EQUALITY_OPERATORS,
    searchable: false,
  }) as FieldKind;
}
