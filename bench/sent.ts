/** What was seen of one stretch of load. */
export interface Sent {
  /** Milliseconds of each answer. */
  readonly durations: readonly number[];
  /** Requests that were sent: the answered ones and those still under way when the time was up. */
  readonly sent: number;
  /** Answers outside 2xx, broken connections and time-outs. */
  readonly failed: number;
  /** Until the last answer. */
  readonly seconds: number;
}
