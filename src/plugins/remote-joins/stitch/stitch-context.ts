import type DataLoader from "dataloader";
import type { AnyEntity, EntityModel, ResolvedRelation } from "../../../entity/index.ts";
import type { IncludeTree, RemoteCaller, Row } from "../../../gate/index.ts";
import type { AskService } from "./ask-service.ts";
import type { Answer } from "./check-records.ts";
import type { Failures } from "./failures.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import type { Deadline } from "./stitch-deadline.ts";

/** Resolves services by name. */
export interface ServiceLookup {
  has(name: string): boolean;
  /** The service, or a promise of it. */
  resolve(name: string): unknown;
}

/** The parts that all relations, batches and levels of one stitch share. */
export interface StitchContext {
  readonly settings: JoinSettings;
  readonly model: EntityModel;
  readonly services: ServiceLookup;
  readonly viewer: Viewer;
  /** Undefined when the caller is unknown. */
  readonly caller: RemoteCaller | undefined;
  readonly memo: Memo;
  readonly deadline: Deadline;
  readonly failures: Failures;
  readonly ask: AskService;
  /** Loaders by question, so that relations with the same question share their batches. */
  readonly loaders: Map<string, DataLoader<string, Answer>>;
}

/** A caller's access to the records of an entity. */
export interface Rights {
  /** Columns that the caller may read, and those that rules need; never hidden ones. */
  readonly columns: readonly string[];
  /**
   * Whether the caller may see a record. If so, the record is tagged, and the fields that it shows are noted on it, so
   * that it is masked in the response like any other record.
   */
  admit(record: Row): boolean | Promise<boolean>;
}

/** The caller who gets the joined records. */
export interface Viewer {
  /** Undefined when the caller may see no record of the entity. */
  rightsOn(entity: AnyEntity): Promise<Rights | undefined>;
  /** Whether the caller may see the relation's key. */
  sees(relation: ResolvedRelation): boolean;
  /**
   * Whether a relation of a fetched record is joined here. If not, the service that returned the record includes it.
   */
  joins(relation: ResolvedRelation): boolean;
  /** Records of the app's own database that the caller may see, with their included relations. */
  list(entity: AnyEntity, ids: readonly string[], inner: IncludeTree): Promise<readonly Row[]>;
}

/**
 * The most results that one request caches per question. When there are more, the cache is cleared, so that long work
 * uses little memory.
 */
const MOST = 10_000;

/** The state of services for one request. */
interface Memo {
  /** Cached results of a question by id; filled by the caller. */
  answersTo(question: string): Map<string, Promise<Answer>>;
  /** Whether a recent call to a service timed out for this request. */
  isPaused(service: string): boolean;
  /** Stops calls to a service for some milliseconds. */
  pause(service: string, ms: number): void;
  /** Gates by service, filled by the caller. All joins of one request share the same `concurrency`. */
  readonly gates: Map<string, Gate>;
}

const memos = new WeakMap<object, Memo>();

/** The memo of a request or another owner. It lives as long as the owner. */
export function memoOf(owner: object): Memo {
  let memo = memos.get(owner);
  if (memo === undefined) {
    memo = createMemo();
    memos.set(owner, memo);
  }
  return memo;
}

/** Creates a memo. */
export function createMemo(): Memo {
  const answers = new Map<string, Map<string, Promise<Answer>>>();
  const pausedUntil = new Map<string, number>();
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
    isPaused: (service) => performance.now() < (pausedUntil.get(service) ?? 0),
    pause: (service, ms) => void pausedUntil.set(service, performance.now() + ms),
  };
}

/** Makes work wait for its turn. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export type Cockatiel = typeof import("cockatiel");

let library: Promise<Cockatiel> | undefined;

/** Imported at the first call: the import creates signals, which workers only allow within a request. */
export function cockatiel(): Promise<Cockatiel> {
  library ??= import("cockatiel");
  return library;
}

/** Creates a gate that lets a number of tasks through at once; others wait. */
export function createGate(concurrency: number): Gate {
  const turns = cockatiel().then(({ bulkhead }) => bulkhead(concurrency, Number.POSITIVE_INFINITY));
  return async (work) => (await turns).execute(work);
}

/** Splits a list into chunks of a maximum size. */
export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let i = 0; i < items.length; i += size) chunks.push(items.slice(i, i + size));
  return chunks;
}
