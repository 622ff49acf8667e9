/** Tells the time; replaced in tests. */
export interface Clock {
  now(): Date;
}
