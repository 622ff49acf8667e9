/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Whether each function of an operation's hooks has a span. @default true */
  readonly phases?: boolean | undefined;
  /** Whether each statement has a span: what was done to which entity, and never a value. @default true */
  readonly statements?: boolean | undefined;
  /** Whether the duration of requests is measured: the histogram `http.server.request.duration`. @default true */
  readonly metrics?: boolean | undefined;
  /** Whether spans have the ids of records and of runs of workflows. @default false */
  readonly ids?: boolean | undefined;
  /** Whether the span of a request has the id of its user. @default false */
  readonly userId?: boolean | undefined;
}
