/** Tells the time; replaced in tests. */
export interface Clock {
  now(): Date;
}

/** Makes record ids: unique, opaque, at most 128 characters. The default makes UUIDs version 7. */
export interface IdGenerator {
  next(): string;
}
