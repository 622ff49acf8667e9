import { LRUCache } from "lru-cache";
import { ConfigurationError } from "../../entity/index.ts";
import type { RemoteService } from "../../kernel/index.ts";
import type { Answer } from "./check-records.ts";
import { RemoteFailure } from "./remote-failure.ts";

/** How long and how many answers are kept, with nothing left open. */
interface Keeping {
  readonly ttl: number;
  readonly max: number;
  readonly staleIfError: number;
}

interface Kept {
  readonly answer: Answer;
  /** Until then it is as good as asking. */
  readonly freshUntil: number;
}

/** Answers of one service that all callers share. */
export interface SharedAnswers {
  /**
   * One promise per id, in their order. What is kept is not asked for, nor what somebody is asking for already.
   * @param question what is asked of the records, the same for answers that look alike
   * @param ask asks for ids that are left; never rejects
   */
  read(
    question: string,
    ids: readonly string[],
    ask: (ids: readonly string[]) => Promise<readonly Answer[]>,
  ): readonly (Answer | Promise<Answer>)[];
  /** What is kept about an id, old or not, in place of a failure; the failure when nothing is. */
  insteadOf(failure: RemoteFailure, question: string, id: string): Answer;
}

/**
 * The options of a service that is shared; undefined for others.
 * @throws ConfigurationError for numbers that make no sense
 */
export function keepingOf({ shared }: RemoteService, name: string): Keeping | undefined {
  if (shared === undefined || shared === false) return undefined;
  const { ttl = 30_000, max = 1_000, staleIfError = 0 } = shared === true ? {} : shared;
  const isWhole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;
  if (isWhole(ttl, 1) && isWhole(max, 1) && isWhole(staleIfError, 0)) return { ttl, max, staleIfError };
  throw new ConfigurationError(
    `The service "${name}": \`shared\` takes whole numbers, of at least 1 for ttl and max and of at least 0 for staleIfError`,
  );
}

/** A store that forgets: by age, and the least used when there are too many. Failures are never kept. */
export function createSharedAnswers({ ttl, max, staleIfError }: Keeping): SharedAnswers {
  const kept = new LRUCache<string, Kept>({ max, ttl: ttl + staleIfError });
  const flights = new Map<string, Promise<Answer>>();

  function settle(key: string, answer: Answer): Answer {
    flights.delete(key);
    if (!(answer instanceof RemoteFailure)) {
      // That there is nothing is no better than an error once it is old.
      const ms = answer === null ? ttl : ttl + staleIfError;
      kept.set(key, { answer, freshUntil: performance.now() + ttl }, { ttl: ms });
      return answer;
    }
    return oldAnswer(key, answer);
  }

  function oldAnswer(key: string, failure: RemoteFailure): Answer {
    const old = kept.get(key);
    return old === undefined ? failure : old.answer;
  }

  return {
    insteadOf: (failure, question, id) => oldAnswer(`${question} ${id}`, failure),
    read(question, ids, ask) {
      const found = new Map<string, Answer | Promise<Answer>>();
      const left: string[] = [];
      const now = performance.now();
      for (const id of ids) {
        const key = `${question} ${id}`;
        const known = kept.get(key);
        const flight = flights.get(key);
        if (known !== undefined && now < known.freshUntil) found.set(id, known.answer);
        else if (flight !== undefined) found.set(id, flight);
        else left.push(id);
      }
      if (left.length > 0) {
        const asked = ask(left);
        for (const [index, id] of left.entries()) {
          const key = `${question} ${id}`;
          const flight = asked.then((answers) => settle(key, answers[index] as Answer));
          flights.set(key, flight);
          found.set(id, flight);
        }
      }
      return ids.map((id) => found.get(id) as Answer | Promise<Answer>);
    },
  };
}
