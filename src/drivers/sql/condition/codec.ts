import type { ArgType } from "@prisma/driver-adapter-utils";
import type { FieldKind } from "../../../entity/index.ts";

/** How values of a column travel to the database and back. */
export interface Codec {
  /** The adapter's type of a value. */
  readonly type: ArgType;
  /** The adapter's type of a list, where one parameter holds a list. */
  readonly listType: ArgType;
  /** A value for the adapter; a copy, so that the caller may change the original later. @param value is not null */
  encode(value: unknown): unknown;
  /** Absent when values come as they are, and for datetimes. @param value is not null */
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

/** A value in the form of its kind; drivers refuse those without one before. */
export function converted({ convert }: FieldKind, value: unknown): unknown {
  const found = convert?.(value);
  return found?.ok === true ? found.value : value;
}

/** The codec of columns that hold values in the form of their kind. */
export type CodecOf = (kind: FieldKind) => Codec;
