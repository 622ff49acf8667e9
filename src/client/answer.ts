/** What the API answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON as values, other bodies as text; undefined when there is none. */
  readonly body: unknown;
  readonly isJson: boolean;
  /** Method and path, for messages. */
  readonly of: string;
}
