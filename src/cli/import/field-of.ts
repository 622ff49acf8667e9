import type { Provider } from "../../entity/index.ts";
import type { TableColumn } from "./database-shape.ts";

/** How a column is written as a field. */
export interface FieldCode {
  /** The constructor to import. */
  readonly maker: string;
  /** The expression, without modifiers of every field. */
  readonly code: string;
}

const plain = (maker: string): FieldCode => ({ maker, code: maker });

/** Texts up to this length are `string`. */
const SHORT = 255;
/** Texts and blobs of an unlimited length, and JSON. */
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
      precision > DIGITS ? plain("float") : { maker: "decimal", code: `decimal(${precision}, ${scale})` },
  ],
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

/**
 * The field that holds the values of a column; undefined for a type that no field has.
 * @param words of its native enum, if it is one
 */
export function fieldOf(
  { type, isArray }: Pick<TableColumn, "type" | "isArray">,
  words: readonly string[] | undefined,
): FieldCode | undefined {
  if (isArray) return undefined;
  if (words !== undefined)
    return { maker: "enums", code: `enums(${words.map((word) => JSON.stringify(word)).join(", ")})` };
  const found = TYPES.find(([pattern]) => pattern.test(type));
  const numbers = [...type.matchAll(/\d+(?=[,)])/g)].map(([digits]) => Number(digits));
  return found?.[1](numbers);
}

/** The literal of a default, in TypeScript; undefined for an expression that the database evaluates. */
export function literalOf(value: string, { maker }: FieldCode, provider: Provider): string | undefined {
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
