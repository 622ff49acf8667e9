import { isKeelsonError } from "../../entity/index.ts";
import {
  type Decision,
  type EntityRef,
  entityName,
  type OperationInput,
  type OperationScope,
} from "../../gate/index.ts";
import type { Principal } from "../../kernel/index.ts";

/** What rules say to a question, without the records that they say it for: these may be the reader's alone. */
type Answer = Pick<Decision, "allowed" | "forSome">;

/** A scope as descriptions of routes get it, and what they have found out by it. */
export interface WatchedScope {
  readonly scope: OperationScope;
  /** Whether they have seen something that other readers who may do the same would not see. */
  readonly isPersonal: boolean;
  /** Asks what descriptions have asked on behalf of other readers. */
  askAll(): Promise<void>;
  /** The answers to all such questions as a text; undefined when one of them was not asked here. */
  answers(): string | undefined;
}

/** Questions of descriptions, by what tells them apart. What one asks is asked for every reader from then on. */
export type Questions = Map<string, OperationInput>;

/** Members that say the same to all readers who may do the same. */
const SHARED: ReadonlySet<string | symbol> = new Set(["limits", "log", "mask", "maskReady", "model"]);

/** An object whose members are its own or SHARED; reads of others are reported. */
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
 * A reader's scope that notes what is read from it. Masks and decisions are shared by readers with the same rights. A
 * description that reads anything else, such as the user, services or the database, makes the document that reader's
 * own.
 * @param scope the reader's, with masks that are final
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

/** What tells one question from another; undefined for questions about single records and values. */
function keyOf({ kind, entity, access, rules, query, ...others }: OperationInput): string | undefined {
  if (typeof query === "function" || Object.values(others).some((value) => value !== undefined)) return undefined;
  const { deleted, ...rest } = query ?? {};
  if (Object.values(rest).some((value) => value !== undefined)) return undefined;
  return JSON.stringify([kind, entityName(entity), access, rules, deleted]);
}
