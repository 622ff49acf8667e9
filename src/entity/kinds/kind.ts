import type { ZodType } from "zod";
import type { GivenMetadata } from "../base/metadata.ts";
import type { Operator } from "./operators.ts";

/** A value parsed from text, or the reason why it cannot be parsed. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Databases a column type is declared for. */
export type Provider = "sqlite" | "postgresql" | "mysql";

/** Types of columns; each database has its own word for it (spec 2.2). */
export type ColumnScalar =
  | "String"
  | "Enum"
  | "Int"
  | "BigInt"
  | "Float"
  | "Decimal"
  | "Boolean"
  | "DateTime"
  | "Date"
  | "Time"
  | "Uuid"
  | "Json"
  | "List"
  | "Bytes";

/** How a kind of field is stored. */
export interface ColumnType {
  readonly scalar: ColumnScalar;
  /** Digits of a decimal: in all, and behind the point. */
  readonly precision?: number;
  readonly scale?: number;
  /** Words of a native enum, in their order, and the name of PostgreSQL's type. */
  readonly words?: readonly string[];
  readonly type?: string | undefined;
  /** Of a list: what its items are. */
  readonly items?: ColumnType;
  /** Native type attribute per database, without `@db.`; absent = the provider's default for the scalar. */
  readonly native?: Partial<Readonly<Record<Provider, string>>>;
}

/**
 * Everything that depends on a field's type lives here: column, parser, schema, order. Shared code calls the kind, and
 * never tests which kind a field is.
 */
export interface FieldKind<T = unknown> {
  readonly name: string;
  readonly column: ColumnType;
  /** Operators that conditions on such a field may use. */
  readonly operators: ReadonlySet<Operator>;
  /** Whether conditions may look at what is in its values. @default false */
  readonly hasPaths?: boolean;
  readonly sortable: boolean;
  /** Whether `q=` looks into such fields. */
  readonly searchable: boolean;
  /** Reads a value from a query string. */
  parse(text: string): Parsed<T>;
  /** Whether a value from code (a rule's `where`, the in-process client) may stand in a condition. */
  accepts(value: unknown): value is T;
  /**
   * A value from another form of it that code may give, such as a number for a decimal: what conditions and drivers use.
   * @default what `accepts` takes, as it is
   */
  convert?(value: unknown): Parsed<T>;
  /**
   * The value after this one, where columns that were there before the app may hold values between the two; undefined behind
   * the last one. @default columns hold the kind's own values
   */
  next?(value: T): T | undefined;
  /**
   * The first and the last value, which stand for all that lies before and behind them in columns that were there before the
   * app, such as an infinite date. @default columns hold no such values
   */
  readonly bounds?: readonly [first: T, last: T];
  /** The value that its column holds, where that is another one: a number for the text of an id. */
  toStored?(value: T): unknown;
  /** The value of what the column holds; with `toStored`. */
  fromStored?(stored: unknown): T;
  /**
   * zod schema of one input value, without optionality and defaults. Its metadata describes in JSON Schema what code
   * checks, so that `z.toJSONSchema` describes the value on the wire.
   */
  schema(field: FieldDefinition): ZodType;
  /** The kind of the items, for lists. */
  readonly item?: FieldKind;
  /** All values in order, for kinds with few of them: those that pass a test can be listed. */
  readonly values?: readonly T[];
  /** The same kind as a type of the database; for enums. @param type what PostgreSQL calls it */
  native?(type: string | undefined): FieldKind<T>;
  /** In-memory order, the same as the database's; only used when `sortable`. */
  compare(a: T, b: T): number;
  /** The JSON form of a stored value; identity when absent. */
  toWire?(value: T): unknown;
  /**
   * Whether that form is text without characters that JSON escapes, so that it need not be searched for them.
   * @default false
   */
  readonly unescaped?: boolean;
  /** A value as a CSV cell. Null needs no such form: it is an empty cell. */
  toCell(value: T): Cell;
  /** The value whose cell has this text; `parse` when absent. */
  fromCell?(text: string): Parsed<T>;
}

/** Gives the stem of a word: "run" of "running" and of "runs". */
export type Stem = (word: string) => string;

/** A cell of CSV: text is written in quotes, even when it is empty; numbers and booleans are not. */
export type Cell = string | number | boolean;

/** A successful parse. */
export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** A failed parse; the message completes the sentence “<field> …”. */
export function unreadable(message: string): Parsed<never> {
  return { ok: false, message };
}

/** A rule as definitions see it: a name, and further members for the plugin that resolves it. */
export interface RuleObject {
  readonly name: string;
  /** Rules that this one only combines; its name says how. */
  readonly parts?: readonly (string | RuleObject)[];
}

/** A limit with the message shown when it is crossed. */
export interface Bound {
  readonly value: number;
  readonly message?: string | undefined;
}

/** The same for an exact number, as its kind takes it. */
export interface ExactBound {
  readonly value: number | string | bigint;
  readonly message?: string | undefined;
}

/** A predicate on one field's value; anything but strict `true` fails (spec 2.3). */
export interface FieldValidator {
  readonly test: (value: never) => unknown;
  readonly message: string;
}

/** A modifier that changes a text; what each does is in string.ts. */
export type TextChange = "trim" | "lower" | "upper";

/** A field as passive, frozen data. Modifiers only write annotations here; plugins give them meaning. */
export interface FieldDefinition {
  readonly kind: FieldKind;
  readonly optional: boolean;
  readonly unique: boolean;
  /** A literal (deep-cloned per create, also a database default) or a function run per create. */
  readonly default?: { readonly value: unknown } | { readonly make: () => unknown };
  readonly min?: Bound;
  readonly max?: Bound;
  /** Bounds of exact numbers, which no double holds. */
  readonly least?: ExactBound;
  readonly most?: ExactBound;
  readonly length?: Bound;
  readonly positive: boolean;
  /** How a text is changed before it is checked. */
  readonly changes: readonly TextChange[];
  readonly formats: readonly ("email" | "url")[];
  readonly patterns: readonly { readonly regex: RegExp; readonly message?: string | undefined }[];
  readonly validators: readonly FieldValidator[];
  /** Callers may not write it, whatever the rules say. */
  readonly readonly: boolean;
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
  /** The rules of `readable` and `writable` that were given as objects. */
  readonly ruleObjects?: {
    readonly readable?: readonly RuleObject[];
    readonly writable?: readonly RuleObject[];
  };
  readonly omit: boolean;
  readonly password?: { readonly cost: number };
  readonly encrypted?: { readonly searchable: boolean };
  /** Its words are searched, and hits count so much. */
  readonly search?: { readonly weight: number; readonly stem?: Stem | undefined };
  /** The former name of its column. */
  readonly renamedFrom?: string;
  /** The name of its column. @default the field's */
  readonly column?: string;
  /** What the database does for it: it has a value for rows that come without one, or always computes it. */
  readonly filledBy?: "default" | "computation";
  readonly description?: string;
  readonly example?: unknown;
  /** What plugins read. */
  readonly meta?: GivenMetadata;
}

/** A definition with only the kind. */
export function plainField(kind: FieldKind): FieldDefinition {
  return Object.freeze({
    kind,
    optional: false,
    unique: false,
    positive: false,
    changes: Object.freeze([]),
    formats: Object.freeze([]),
    patterns: Object.freeze([]),
    validators: Object.freeze([]),
    readonly: false,
    omit: false,
  });
}
