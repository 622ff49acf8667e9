/** What the API answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON as values, other bodies as text; undefined when there is none. */
  readonly body: unknown;
  readonly isJson: boolean;
  /** Whether it comes from where the request was sent on to, maybe as a GET without a body. */
  readonly isElsewhere: boolean;
  /** Method and path, for messages. */
  readonly of: string;
}
