import type { Gate } from "./admission.ts";
import type { Answer } from "./check-records.ts";

/** Answers that one request keeps of one question; more are forgotten, so that long work stays flat in memory. */
const MOST = 10_000;

/** What one request remembers of services. */
export interface Memo {
  /** Answers to a question by id, to be filled. */
  answersTo(question: string): Map<string, Promise<Answer>>;
  /** Whether a service has let this request wait in vain a moment ago. */
  isTired(service: string): boolean;
  /** Leaves a service alone for some milliseconds. */
  rest(service: string, ms: number): void;
  /** By service, to be filled: all that one request joins keeps to the same `concurrency`. */
  readonly gates: Map<string, Gate>;
}

const memos = new WeakMap<object, Memo>();

/** The memory of a request, or of whatever else the work is for: it is gone with it. */
export function memoOf(owner: object): Memo {
  let memo = memos.get(owner);
  if (memo === undefined) {
    memo = createMemo();
    memos.set(owner, memo);
  }
  return memo;
}

/** A memory of its own. */
export function createMemo(): Memo {
  const answers = new Map<string, Map<string, Promise<Answer>>>();
  const tired = new Map<string, number>();
  return {
    gates: new Map(),
    answersTo(question) {
      let known = answers.get(question);
      if (known === undefined) {
        known = new Map();
        answers.set(question, known);
      }
      if (known.size > MOST) known.clear();
      return known;
    },
    isTired: (service) => performance.now() < (tired.get(service) ?? 0),
    rest: (service, ms) => void tired.set(service, performance.now() + ms),
  };
}
