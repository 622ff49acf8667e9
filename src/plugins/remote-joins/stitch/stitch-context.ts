import type DataLoader from "dataloader";
import type { AnyEntity, EntityModel, ResolvedRelation } from "../../../entity/index.ts";
import type { IncludeTree, RemoteCaller, Row } from "../../../gate/index.ts";
import type { AskService } from "./ask-service.ts";
import type { Answer } from "./check-records.ts";
import type { Failures } from "./failures.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import type { Deadline } from "./stitch-deadline.ts";

/** Where services are found by name. */
export interface ServiceLookup {
  has(name: string): boolean;
  /** The service, or a promise of it. */
  resolve(name: string): unknown;
}

/** What one stitch works with: all relations, batches and levels of it. */
export interface StitchContext {
  readonly settings: JoinSettings;
  readonly model: EntityModel;
  readonly services: ServiceLookup;
  readonly viewer: Viewer;
  /** Undefined when the caller is not known. */
  readonly caller: RemoteCaller | undefined;
  readonly memo: Memo;
  readonly deadline: Deadline;
  readonly failures: Failures;
  readonly ask: AskService;
  /** Loaders by question: ids of all relations that ask the same go together. */
  readonly loaders: Map<string, DataLoader<string, Answer>>;
}

/** What a caller may see of the records of an entity. */
export interface Rights {
  /** Columns that they may read, and those that decide about it; never hidden ones. */
  readonly columns: readonly string[];
  /**
   * Whether they may see a record. It is tagged then, and what it shows them is noted on it, so that it is masked on its
   * way out like any other.
   */
  admit(record: Row): boolean | Promise<boolean>;
}

/** On whose behalf records are joined. */
export interface Viewer {
  /** Undefined when no record of the entity is for them. */
  rightsOn(entity: AnyEntity): Promise<Rights | undefined>;
  /** Whether they may see which records are related. */
  sees(relation: ResolvedRelation): boolean;
  /**
   * Whether the target of a fetched record's key is fetched from here, and not from the service that returned the
   * record.
   */
  joins(relation: ResolvedRelation): boolean;
  /** Records of the app's own database that they may see, with what is included in these in turn. */
  list(entity: AnyEntity, ids: readonly string[], inner: IncludeTree): Promise<readonly Row[]>;
}

/** Answers that one request keeps of one question; more are forgotten, so that long work stays flat in memory. */
const MOST = 10_000;

/** What one request remembers of services. */
interface Memo {
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

/** Lets work wait for its turn. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export type Cockatiel = typeof import("cockatiel");

let library: Promise<Cockatiel> | undefined;

/** Imported at the first call: it makes signals when it is imported, which workers allow in a request only. */
export function cockatiel(): Promise<Cockatiel> {
  library ??= import("cockatiel");
  return library;
}

/** A gate that lets so many through at once; the others wait. */
export function createGate(concurrency: number): Gate {
  const turns = cockatiel().then(({ bulkhead }) => bulkhead(concurrency, Number.POSITIVE_INFINITY));
  return async (work) => (await turns).execute(work);
}

/** A list in pieces of at most so many items. */
export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let i = 0; i < items.length; i += size) chunks.push(items.slice(i, i + size));
  return chunks;
}
