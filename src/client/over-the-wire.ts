/**
 * What JSON makes of a value: a moment is its text (ISO 8601, UTC). The client knows no fields at run time, and a text
 * that looks like a moment need not be one, so nothing is turned back.
 */
export type OverTheWire<T> = 0 extends 1 & T
  ? T
  : T extends Date
    ? string
    : T extends object
      ? { [K in keyof T]: OverTheWire<T[K]> }
      : T;

/** The same the other way: a moment may be sent as its text, so what was read can be sent back. */
export type Sendable<T> = 0 extends 1 & T
  ? T
  : T extends Date
    ? Date | string
    : T extends Iterable<unknown> | AsyncIterable<unknown>
      ? T
      : T extends object
        ? { [K in keyof T]: Sendable<T[K]> }
        : T;
