import { isKeelsonError } from "../../entity/index.ts";
import {
  type Decision,
  type EntityRef,
  entityName,
  type OperationInput,
  type OperationScope,
} from "../../gate/index.ts";
import type { Principal } from "../../kernel/index.ts";

/** The result of a question to rules, without the records for which it holds: these may be specific to the reader. */
type Answer = Pick<Decision, "allowed" | "forSome">;

/** A scope for descriptions of routes that notes everything they read. */
export interface WatchedScope {
  readonly scope: OperationScope;
  /** Whether descriptions have read anything that other readers with the same rights might not see. */
  readonly isPersonal: boolean;
  /** Asks the questions that descriptions have asked for other readers. */
  askAll(): Promise<void>;
  /** The answers to all these questions as text; undefined if one of them was not asked here. */
  answers(): string | undefined;
}

/** Questions of descriptions by key. Once a description asks a question, it is asked for every reader. */
export type Questions = Map<string, OperationInput>;

/** Members that are equal for all readers with the same rights. */
const SHARED: ReadonlySet<string | symbol> = new Set(["limits", "log", "mask", "maskReady", "model"]);

/** Replaces some members of an object, and reports reads of members that are not SHARED. */
function watch<T extends object>(watched: T, own: Readonly<Record<string, unknown>>, onOther: () => void): T {
  return new Proxy(watched, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as string];
      if (!SHARED.has(name)) onOther();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * Watches a reader's scope. Masks and decisions are shared by readers with the same rights. If a description reads
 * anything else, such as the user, services or the database, the document is for this reader only.
 * @param scope the reader's scope, with final masks
 */
export function watchScope(scope: OperationScope, questions: Questions): WatchedScope {
  const found = new Map<string, Promise<Answer>>();
  const texts = new Map<string, string>();
  let isPersonal = false;

  async function ask(key: string, input: OperationInput): Promise<Answer> {
    try {
      const { allowed, forSome } = await scope.access.decide(input);
      texts.set(key, `${allowed} ${forSome}`);
      return { allowed, forSome };
    } catch (error) {
      if (isKeelsonError(error)) texts.set(key, error.code);
      throw error;
    }
  }
  function decide(input: OperationInput): Promise<Answer> {
    const key = keyOf(input);
    if (key === undefined) {
      isPersonal = true;
      return scope.access.decide(input);
    }
    questions.set(key, input);
    const known = found.get(key) ?? ask(key, input);
    found.set(key, known);
    return known;
  }
  const makePersonal = (): void => {
    isPersonal = true;
  };
  async function readDecision(entity: EntityRef): Promise<Answer> {
    const { allowed, forSome } = await scope.access.readDecision(entity);
    return { allowed, forSome };
  }
  const own = {
    access: watch(scope.access, { decide, readDecision }, makePersonal),
    app: watch(scope.app, {}, makePersonal),
    principal: watchPrincipal(scope.principal, makePersonal),
  };

  return {
    scope: watch(scope, own, makePersonal),
    get isPersonal() {
      return isPersonal;
    },
    async askAll() {
      await Promise.allSettled([...questions.values()].map(decide));
    },
    answers() {
      const all = [...questions.keys()].map((key) => texts.get(key));
      return all.includes(undefined) ? undefined : all.join();
    },
  };
}

function watchPrincipal(principal: Principal, onUser: () => void): Principal {
  return Object.defineProperty({ ...principal }, "user", {
    get() {
      onUser();
      return principal.user;
    },
  });
}

/** Identifies a question; undefined for questions about single records and values. */
function keyOf({ kind, entity, access, rules, query, ...others }: OperationInput): string | undefined {
  if (typeof query === "function" || Object.values(others).some((value) => value !== undefined)) return undefined;
  const { deleted, ...rest } = query ?? {};
  if (Object.values(rest).some((value) => value !== undefined)) return undefined;
  return JSON.stringify([kind, entityName(entity), access, rules, deleted]);
}
