import type { ArgType } from "@prisma/driver-adapter-utils";
import type { FieldKind } from "../../../entity/index.ts";

/** Converts the values of a column for the database, and back. */
export interface Codec {
  /** The adapter's type of a value. */
  readonly type: ArgType;
  /** The adapter's type of a list, if one parameter can hold a list. */
  readonly listType: ArgType;
  /**
   * Converts a value for the adapter. Returns a copy, so that the caller may change the original later. @param value is
   * not null
   */
  encode(value: unknown): unknown;
  /** Absent if values need no conversion, and for datetimes. @param value is not null */
  readonly decode?: (value: unknown) => unknown;
}

/** The adapter's types of a value and of a list. */
export function types(scalarType: ArgType["scalarType"]): Pick<Codec, "type" | "listType"> {
  return {
    type: Object.freeze({ scalarType, arity: "scalar" }),
    listType: Object.freeze({ scalarType, arity: "list" }),
  };
}

export const same = (value: unknown): unknown => value;

/** Converts a value to the form of its kind. Drivers refuse invalid values before. */
export function converted({ convert }: FieldKind, value: unknown): unknown {
  const found = convert?.(value);
  return found?.ok === true ? found.value : value;
}

/** Makes the codec of a kind. */
export type CodecOf = (kind: FieldKind) => Codec;
