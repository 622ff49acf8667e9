import { type AnyEntity, type ColumnDefinition, MOST_OPEN_DIGITS } from "../../entity/index.ts";
import type { ByteHolder } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";

/** Responses up to this size in bytes do not count as large. */
export const LARGE = 1_048_576;

/** The remaining size in bytes of a page, or of all the records included in it. */
export class ByteBudget {
  /** Whether rows were left out because they did not fit. */
  isCut = false;
  #left: number;
  #spent = 0;
  #held = 0;
  readonly #holder: ByteHolder | undefined;
  readonly #least: number;

  /**
   * @param most the total number of bytes
   * @param holder is notified of the bytes spent once they are large @default not counted
   * @param least the number of rows that are read regardless of their size @default 1, so that a list can always continue
   */
  constructor(most: number, holder?: ByteHolder, least = 1) {
    this.#left = most;
    this.#holder = holder;
    this.#least = least;
  }

  get left(): number {
    return this.#left;
  }

  /**
   * Returns how many of the rows, in order, may be read: those that fit, and at least as many as the budget says. Their
   * bytes are spent.
   * @param sizes the size in bytes of each row
   * @param least the number of rows that are read regardless of their size @default that of the budget
   * @throws UnavailableError when too many large responses are in flight
   */
  take(sizes: readonly number[], least = this.#least): number {
    let count = 0;
    let bytes = 0;
    for (const size of sizes) {
      if (count >= least && bytes + size > this.#left) break;
      bytes += size;
      count++;
    }
    if (count < sizes.length) this.isCut = true;
    this.#left = Math.max(0, this.#left - bytes);
    this.#spent += bytes;
    if (this.#holder?.hold !== undefined && this.#spent > LARGE) {
      this.#holder.hold(this.#spent - this.#held);
      this.#held = this.#spent;
    }
    return count;
  }
}

/** Maximum size of numbers, booleans and datetimes as text. */
const SHORT = 32;
/** Maximum number of code points of short texts. */
const SHORT_TEXT = 255;

/** Maximum size in bytes of a column's values; infinite for texts and JSON without a declared limit. */
export function mostBytes({ kind, field }: ColumnDefinition): number {
  const { scalar } = kind.column;
  const precision = kind.column.precision ?? (scalar === "Decimal" ? MOST_OPEN_DIGITS : 0);
  if (scalar === "Json" || scalar === "List" || scalar === "Bytes") return Number.POSITIVE_INFINITY;
  if (scalar !== "String") return Math.max(SHORT, precision + 2);
  const isLong = kind.name === "text" || kind.name === "json";
  const said = (field?.length ?? field?.max)?.value ?? (isLong ? Number.POSITIVE_INFINITY : 0);
  const most = Math.max(said, SHORT_TEXT);
  // Four bytes for a code point; encryption adds a third, and its own 100 bytes.
  return field?.encrypted ? Math.ceil((most * 16) / 3) + 128 : most * 4;
}

/** Maximum size in bytes of a record. */
export function mostRowBytes({ columns }: AnyEntity): number {
  return Object.values(columns).reduce((sum, column) => sum + mostBytes(column), 0);
}

/** The approximate size in bytes of a record, for drivers that have it in memory. */
export function rowBytes(row: Row): number {
  return countedBytes(row, undefined);
}

/** The approximate size in bytes of some or all columns of a record. */
export function countedBytes(row: Row, counted: ReadonlySet<string> | undefined): number {
  let bytes = 0;
  for (const name of Object.keys(row)) {
    if (counted?.has(name) === false) continue;
    bytes += valueBytes(row[name]);
  }
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + valueBytes(item), 0);
  return typeof value === "object" && value !== null && !(value instanceof Date) ? JSON.stringify(value).length : SHORT;
}
