import type { Provider } from "../../entity/index.ts";
import type { EnumShape, TableColumn } from "./database-shape.ts";

/** The code of a field for a column. */
export interface FieldCode {
  /** The constructor to import. */
  readonly maker: string;
  /** The expression, without the modifiers that all fields have. */
  readonly code: string;
  /** @default false */
  readonly isArray?: boolean;
}

const plain = (maker: string): FieldCode => ({ maker, code: maker });

/** Texts up to this length are `string`. */
const SHORT = 255;
/** Maximum precision of `decimal(precision, scale)`. */
const DIGITS = 65;

function texts(length: number | undefined): FieldCode {
  if (length === undefined) return plain("text");
  const maker = length <= SHORT ? "string" : "text";
  return { maker, code: length === SHORT ? maker : `${maker}.max(${length})` };
}

const TYPES: readonly (readonly [RegExp, (numbers: readonly number[]) => FieldCode])[] = [
  [/^(boolean|bool|bit\(1\)|tinyint\(1\))$/, () => plain("bool")],
  [/^(bigint|int8|bigserial)\b|^int(eger)?(\(\d+\))? unsigned/, () => plain("bigint")],
  [
    /^(small|medium|tiny)?(int|integer)(\(\d+\))?( unsigned)?$|^(int2|int4|smallserial|serial|year)\b/,
    () => plain("int"),
  ],
  [
    /^(numeric|decimal)\((\d+)(?:,\s*(\d+))?\)/,
    ([precision = 0, scale = 0]) =>
      precision > DIGITS
        ? { maker: "decimal", code: "decimal()" }
        : { maker: "decimal", code: `decimal(${precision}, ${scale})` },
  ],
  [/^numeric$/, () => ({ maker: "decimal", code: "decimal()" })],
  [/^(numeric|decimal|real|float|double|float4|float8)\b/, () => plain("float")],
  [/^(n?varchar|n?char|bpchar|character|varying character|native character)\s*\((\d+)\)/, ([length]) => texts(length)],
  [/^(varchar|text|citext|n?clob|tinytext|mediumtext|longtext|bpchar|name)\b/, () => texts(undefined)],
  [/^uuid$/, () => plain("uuid")],
  [/^(timestamp|datetime)/, () => plain("datetime")],
  [/^date$/, () => plain("date")],
  [/^time(\(\d\))?( without time zone)?$/, () => plain("time")],
  [/^jsonb?$/, () => plain("json")],
  [/^(bytea|(tiny|medium|long)?blob|(var)?binary\b.*)$/, () => plain("bytes")],
];

/** Matches values that Keelson's native enums do not support. */
const UNFIT = /['\\]|^\s|\s$|^$|^.{64}/;

/** The field of an enum; undefined if PostgreSQL's values are not supported by any field. */
function enumCode({ words, name }: EnumShape, provider: Provider): FieldCode | undefined {
  const code = `enums(${words.map((word) => JSON.stringify(word)).join(", ")})`;
  if (!words.some((word) => UNFIT.test(word)))
    return { maker: "enums", code: `${code}.native(${provider === "postgresql" ? JSON.stringify(name) : ""})` };
  return provider === "postgresql" ? undefined : { maker: "enums", code };
}

/**
 * The field for a column; undefined for an unsupported type.
 * @param native the column's enum, if it has one
 */
export function fieldOf(
  { type, isArray }: Pick<TableColumn, "type" | "isArray">,
  native: EnumShape | undefined,
  provider: Provider,
): FieldCode | undefined {
  // SQLite has no exact numbers.
  const known = provider === "sqlite" && /^(numeric|decimal)$/.test(type) ? "real" : type;
  const found = TYPES.find(([pattern]) => pattern.test(known));
  const numbers = [...known.matchAll(/\d+(?=[,)])/g)].map(([digits]) => Number(digits));
  const field = native === undefined ? found?.[1](numbers) : enumCode(native, provider);
  if (!isArray || field === undefined) return field;
  return field.maker === "json" ? undefined : { maker: field.maker, code: `${field.code}.array()`, isArray: true };
}

/** The TypeScript literal of a default; undefined for an expression that the database evaluates. */
export function literalOf(
  value: string,
  { maker, isArray = false }: FieldCode,
  provider: Provider,
): string | undefined {
  if (isArray) return /^('\{\}'|ARRAY\[\])/.test(value) ? "[]" : undefined;
  const bare = value.replace(/^\((.*)\)$/, "$1").replace(/::[a-z ]+(\(\d+(,\d+)?\))?(\[\])?$/i, "");
  const quoted = /^'((?:[^']|'')*)'$/.exec(bare)?.[1]?.replaceAll("''", "'");
  const isBareText = provider === "mysql" && quoted === undefined;
  switch (maker) {
    case "bool":
      return /^(true|1|b'1')$/i.test(quoted ?? bare)
        ? "true"
        : /^(false|0|b'0')$/i.test(quoted ?? bare)
          ? "false"
          : undefined;
    case "int":
    case "float":
      return /^-?\d+(\.\d+)?$/.test(quoted ?? bare) ? String(Number(quoted ?? bare)) : undefined;
    case "decimal":
      return /^-?\d+(\.\d+)?$/.test(quoted ?? bare) ? JSON.stringify(quoted ?? bare) : undefined;
    case "string":
    case "text":
    case "enums":
      if (quoted !== undefined) return JSON.stringify(quoted);
      return isBareText && /^[\w-]+$/.test(bare) && !/^(current_|now|uuid)/i.test(bare)
        ? JSON.stringify(bare)
        : undefined;
    default:
      return undefined;
  }
}
