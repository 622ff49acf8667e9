import { ConfigurationError } from "./base/keelson-error.ts";
import type { ColumnDefinition } from "./entity-definition.ts";
import {
  blindIndexKind,
  compositeIdKind,
  datetimeKind,
  encryptedKind,
  idKind,
  intKind,
  isJsonValue,
  stringKind,
  wordsKind,
} from "./kinds/index.ts";
import type { ColumnType, FieldDefinition, FieldKind } from "./kinds/kind.ts";
import type { RelationDefinition } from "./relation.ts";
import { searchColumnOf } from "./search-words.ts";

/** The name of a belongsTo relation's column. */
export function foreignKeyOf(name: string, relation: RelationDefinition): string {
  return relation.foreignKey ?? `${name}Id`;
}

interface OwnColumn {
  /** @default its name */
  readonly stored?: string | undefined;
  /** @default false */
  readonly unique?: boolean;
  /** @default false */
  readonly existing?: boolean;
}

function own(
  name: string,
  kind: FieldKind,
  role: ColumnDefinition["role"],
  { stored = name, unique = false, existing = false }: OwnColumn = {},
): ColumnDefinition {
  return Object.freeze({ name, stored, kind, role, optional: false, unique, ...(existing && { existing }) });
}

/** The name of the column with the blind index of an encrypted field. */
export function blindIndexOf(name: string): string {
  return `${name}Bidx`;
}

/** The columns of a field: its own, and its blind index if it is encrypted and searchable. */
function fieldColumns(name: string, field: FieldDefinition, existing: boolean): ColumnDefinition[] {
  const { kind, optional, unique, encrypted, search, column = name } = field;
  if (encrypted === undefined) {
    const plain = Object.freeze({
      name,
      stored: column,
      kind,
      role: "field",
      optional,
      unique,
      field,
      existing,
    } as const);
    return search === undefined ? [plain] : [plain, wordsColumn(name)];
  }
  const cipher = Object.freeze({
    name,
    stored: column,
    kind: encryptedKind(kind),
    role: "field",
    optional,
    unique: false,
    field,
  } as const);
  if (!encrypted.searchable) return [cipher];
  const digest = blindIndexKind(stringKind);
  const index = blindIndexOf(name);
  return [
    cipher,
    Object.freeze({ name: index, stored: index, kind: digest, role: "blindIndex", optional, unique, of: name }),
  ];
}

/** The column with the words of a field; null in records stored before the field was searchable. */
function wordsColumn(field: string): ColumnDefinition {
  const name = searchColumnOf(field);
  const kind = wordsKind(stringKind);
  return Object.freeze({ name, stored: name, kind, role: "words", optional: true, unique: false, of: field });
}

/**
 * The column of a belongsTo relation. Its kind is that of the target's ids, which is known once all entities are
 * defined.
 */
function foreignKeyColumn(relation: string, definition: RelationDefinition, ownIds: FieldKind): ColumnDefinition {
  const { optional, unique, remote, target } = definition;
  let found: FieldKind | undefined = remote === undefined ? undefined : (idKind as FieldKind);
  if (target === null) found ??= ownIds;
  const name = foreignKeyOf(relation, definition);
  return Object.freeze({
    name,
    stored: definition.column ?? name,
    get kind() {
      found ??= idsOf(target);
      return found ?? (idKind as FieldKind);
    },
    role: "foreignKey",
    optional,
    unique,
    relation,
  });
}

/**
 * The kind of a related entity's ids; undefined while the entity is not defined yet, or if it is invalid, which the
 * model reports.
 */
function idsOf(target: RelationDefinition["target"]): FieldKind | undefined {
  try {
    const entity = target?.();
    const definition = entity !== undefined && "build" in entity ? entity.build() : entity;
    return definition?.columns.id?.kind;
  } catch {
    return undefined;
  }
}

/** The columns that the framework maintains. */
export interface KeptColumns {
  readonly id:
    | { readonly kind: FieldKind; readonly column?: string | undefined }
    | { readonly parts: readonly string[] };
  /** The names of the timestamp columns, or `false`. */
  readonly timestamps: TimestampColumns | false;
  readonly versioned: boolean;
  /** Whether the table existed before the app. */
  readonly existing: boolean;
}

/** The names of the timestamp columns. @default the names of the fields */
export interface TimestampColumns {
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
}

/** The stored columns of an entity, in a fixed order. The builder reports name clashes. */
export function columnsOf(
  declared: readonly (readonly [string, FieldDefinition | RelationDefinition])[],
  { id, timestamps, versioned, existing }: KeptColumns,
): Record<string, ColumnDefinition> {
  const columns: ColumnDefinition[] =
    "parts" in id ? [] : [own("id", id.kind, "id", { stored: id.column, unique: true })];
  const ownIds = "parts" in id ? (idKind as FieldKind) : id.kind;
  for (const [name, member] of declared) {
    if ("kind" in member) {
      columns.push(...fieldColumns(name, member, existing));
    } else if (member.type === "belongsTo") {
      columns.push(foreignKeyColumn(name, member, ownIds));
    }
  }
  if (timestamps) {
    const kind = datetimeKind as FieldKind;
    const { createdAt, updatedAt } = timestamps;
    columns.push(own("createdAt", kind, "createdAt", { stored: createdAt, existing }));
    columns.push(own("updatedAt", kind, "updatedAt", { stored: updatedAt, existing }));
  }
  if (versioned) columns.push(own("version", intKind as FieldKind, "version"));
  if ("parts" in id) columns.unshift(compositeId(id.parts, columns));
  return Object.freeze(Object.fromEntries(columns.map((column) => [column.name, column])));
}

/**
 * An id that is not stored, but composed of other columns. @throws ConfigurationError for a name that is not a column
 */
function compositeId(names: readonly string[], columns: readonly ColumnDefinition[]): ColumnDefinition {
  const parts = names.map((name) => {
    const part = columns.find((column) => column.name === name);
    if (part !== undefined) return part;
    throw new ConfigurationError(`.id(): "${name}" is not a column; foreign keys go by their own name (orgId)`);
  });
  return Object.freeze({ ...own("id", compositeIdKind(parts) as FieldKind, "id", { unique: true }), parts });
}

/** The names of the columns that records contain but do not show. */
export function hiddenColumns(columns: Readonly<Record<string, ColumnDefinition>>): readonly string[] {
  const hidden = Object.values(columns).filter(
    ({ of, field }) => of !== undefined || field?.omit === true || field?.password !== undefined,
  );
  return Object.freeze(hidden.map(({ name }) => name));
}

const INT32 = 2 ** 31;

function isText(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\u0000");
}

/** Checks by type: a lone surrogate, NaN, or 1.5 in an integer column would be stored as a different value. */
const HOLDS: Readonly<Partial<Record<ColumnType["scalar"], (value: unknown) => boolean>>> = {
  String: isText,
  Int: (value) => Number.isInteger(value) && (value as number) >= -INT32 && (value as number) < INT32,
  Float: (value) => Number.isFinite(value),
  Boolean: (value) => typeof value === "boolean",
  DateTime: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  Json: isJsonValue,
};

/**
 * Whether every database can store a value in a column and return it unchanged; `null` if the column is optional.
 * Lengths and ranges of fields are checked earlier. An encrypted field is stored as text.
 */
export function canHold({ kind, optional, field }: ColumnDefinition, value: unknown): boolean {
  if (value === null) return optional;
  if (field?.encrypted) return isText(value);
  return kind.convert === undefined ? HOLDS[kind.column.scalar]?.(value) === true : kind.convert(value).ok;
}

/**
 * A field's default for a new record: the result of its function, or a copy, so that records never share an object;
 * undefined for a field without a default.
 */
export function newDefault({ default: given }: Pick<FieldDefinition, "default">): unknown {
  if (given === undefined) return undefined;
  if ("make" in given) return given.make();
  const { value } = given;
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}

type Fields = Readonly<Record<string, FieldDefinition>>;

/** Fields for inspection, without literal defaults of protected fields, since these are values of the fields. */
export function publishedFields(fields: Fields): Fields {
  return Object.freeze(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, published(field)])));
}

function published(field: FieldDefinition): FieldDefinition {
  const isProtected = field.omit || field.password || field.encrypted || field.readable;
  if (!isProtected || field.default === undefined || "make" in field.default) return field;
  const { default: _, ...rest } = field;
  return Object.freeze(rest);
}
