/** What a check found. */
export interface Diagnosis {
  /** What was looked at, in a word or two. */
  readonly check: string;
  /** "bad" fails the command. */
  readonly state: "good" | "doubtful" | "bad";
  readonly found: string;
  /** What to do about it, unless it is good. */
  readonly fix?: string;
}
