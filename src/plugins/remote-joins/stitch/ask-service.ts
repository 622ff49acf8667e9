import DataLoader from "dataloader";
import { LRUCache } from "lru-cache";
import { ConfigurationError } from "../../../entity/index.ts";
import { type RemoteService, tracerOf } from "../../../gate/index.ts";
import { type AskBatch, type Breakers, createAskBatch, type Question } from "./ask-batch.ts";
import type { Answer } from "./check-records.ts";
import { failAll, RemoteFailure, toFailure } from "./failures.ts";
import type { FetchPlan } from "./fetch-plan.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import { chunksOf, createGate, type Gate, type StitchContext } from "./stitch-context.ts";
import { createDeadline } from "./stitch-deadline.ts";

/** Fetches records from a service by id: one result per id, in their order. Never rejects. */
export type AskService = (
  context: StitchContext,
  name: string,
  plan: FetchPlan,
  ids: readonly string[],
) => Promise<readonly Answer[]>;

/** The state of a shared service, which all callers use. */
interface Store {
  readonly answers: SharedAnswers;
  readonly gate: Gate;
}

/** Calls the services of one app. Tracks which of them fail, and caches the responses of shared services. */
export function createAskService(settings: JoinSettings, breakers: Breakers): AskService {
  const { batchSize, timeout, concurrency, cache } = settings;
  const askBatch = createAskBatch(settings, breakers.of);
  const stores = new Map<string, Store>();

  /** The cached results of a shared service for requests that cannot wait; the failure without one. */
  function failOrKept(failure: RemoteFailure, name: string, plan: FetchPlan, ids: readonly string[]): Answer[] {
    const answers = stores.get(name)?.answers;
    return ids.map((id) => (answers === undefined ? failure : answers.insteadOf(failure, plan.signature, id)));
  }

  async function ask(
    context: StitchContext,
    name: string,
    plan: FetchPlan,
    ids: readonly string[],
  ): Promise<readonly Answer[]> {
    const { deadline } = context;
    const service = await deadline.within(serviceOf(context, name));
    const keeping = cache ? keepingOf(service, name) : undefined;
    if (keeping === undefined) {
      const loader = loaderOf(context, askBatch, { name, service, plan }, settings);
      // A loader only returns failures that it was given.
      return (await loader.loadMany(ids)) as readonly Answer[];
    }
    const { answers, gate } = orNew(stores, name, () => ({
      answers: createSharedAnswers(keeping),
      gate: createGate(concurrency),
    }));
    // These batches do not belong to one caller, who might leave early, so they have their own deadline.
    const askForAll = async (left: readonly string[]): Promise<readonly Answer[]> => {
      const own = createDeadline(timeout);
      const tracer = tracerOf(context.services);
      const question = { name, service, plan, gate, caller: undefined, tracer, deadline: own };
      const found = await Promise.all(chunksOf(left, batchSize).map((batch) => askBatch(question, batch)));
      own.end();
      return found.flat();
    };
    const orKept = (error: unknown, id: string): Answer => {
      const failure = toFailure(error, name);
      if (failure.reason === "timeout") context.memo.pause(name, timeout);
      return answers.insteadOf(failure, plan.signature, id);
    };
    const found = answers.read(plan.signature, ids, askForAll);
    return await Promise.all(
      ids.map((id, index) => {
        const one = found[index] as (typeof found)[number];
        return one instanceof Promise ? deadline.within(one).catch((error) => orKept(error, id)) : one;
      }),
    );
  }

  return async (context, name, plan, ids) => {
    const { memo } = context;
    if (memo.isPaused(name))
      return failOrKept(
        new RemoteFailure("timeout", `The service "${name}" has let this request wait already`),
        name,
        plan,
        ids,
      );
    let answers: readonly Answer[];
    try {
      answers = await ask(context, name, plan, ids);
    } catch (error) {
      answers = failAll(ids, toFailure(error, name));
    }
    if (answers.some((answer) => answer instanceof RemoteFailure && answer.reason === "timeout"))
      memo.pause(name, timeout);
    return answers;
  };
}

/** The loader of one stitch for one question: ids of all relations are combined, and each id is requested once. */
function loaderOf(
  { deadline, loaders, memo, caller, services }: StitchContext,
  askBatch: AskBatch,
  asked: Pick<Question, "name" | "service" | "plan">,
  { batchSize, concurrency, cache }: JoinSettings,
): DataLoader<string, Answer> {
  const { name, service, plan } = asked;
  const key = `${name} ${plan.signature}`;
  return orNew(loaders, key, () => {
    const answers = cache ? memo.answersTo(key) : new Map<string, Promise<Answer>>();
    // One gate per service: a service that hangs does not block the others.
    const gate = orNew(memo.gates, name, () => createGate(concurrency));
    const tracer = tracerOf(services);
    const question: Question = { ...asked, deadline, gate, tracer, caller: service.shared ? undefined : caller };
    return new DataLoader<string, Answer>(
      async (ids) => {
        const found = await askBatch(question, ids);
        // Failures are not cached: the next request for the id tries again.
        found.forEach((answer, index) => {
          if (answer instanceof RemoteFailure) answers.delete(ids[index] as string);
        });
        return found;
      },
      { maxBatchSize: batchSize, cacheMap: answers },
    );
  });
}

function orNew<T>(known: Map<string, T>, key: string, make: () => T): T {
  let found = known.get(key);
  if (found === undefined) {
    found = make();
    known.set(key, found);
  }
  return found;
}

/** @throws RemoteFailure when the registered value is not a service */
async function serviceOf({ services }: StitchContext, name: string): Promise<RemoteService> {
  const service = (await services.resolve(name)) as RemoteService | null | undefined;
  if (typeof service?.fetchByIds === "function") return service;
  throw new RemoteFailure("error", `The service "${name}" has no function fetchByIds(entityName, ids, options)`);
}

/** The caching options of a shared service, with defaults. */
interface Keeping {
  readonly ttl: number;
  readonly max: number;
  readonly staleIfError: number;
}

interface Kept {
  readonly answer: Answer;
  /** Until then, it is used without asking again. */
  readonly freshUntil: number;
}

/** Cached results of one service, which all callers share. */
interface SharedAnswers {
  /**
   * One result or promise per id, in their order. Ids that are cached or already being fetched are not fetched again.
   * @param question the signature of the fetch plan; results with the same signature have the same shape
   * @param ask fetches the remaining ids; never rejects
   */
  read(
    question: string,
    ids: readonly string[],
    ask: (ids: readonly string[]) => Promise<readonly Answer[]>,
  ): readonly (Answer | Promise<Answer>)[];
  /** The cached result for an id, even if it is old, instead of a failure; otherwise the failure. */
  insteadOf(failure: RemoteFailure, question: string, id: string): Answer;
}

/**
 * The caching options of a shared service; undefined for other services.
 * @throws ConfigurationError for invalid numbers
 */
function keepingOf({ shared }: RemoteService, name: string): Keeping | undefined {
  if (shared === undefined || shared === false) return undefined;
  const { ttl = 30_000, max = 1_000, staleIfError = 0 } = shared === true ? {} : shared;
  const isWhole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;
  if (isWhole(ttl, 1) && isWhole(max, 1) && isWhole(staleIfError, 0)) return { ttl, max, staleIfError };
  throw new ConfigurationError(
    `The service "${name}": \`shared\` takes whole numbers, of at least 1 for ttl and max and of at least 0 for staleIfError`,
  );
}

/**
 * Creates a cache that drops old results, and the least recently used ones when it is full. Failures are not cached.
 */
function createSharedAnswers({ ttl, max, staleIfError }: Keeping): SharedAnswers {
  const kept = new LRUCache<string, Kept>({ max, ttl: ttl + staleIfError });
  const flights = new Map<string, Promise<Answer>>();

  function settle(key: string, answer: Answer): Answer {
    flights.delete(key);
    if (!(answer instanceof RemoteFailure)) {
      // An old "no record" is no better than an error.
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
