import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import { withDeadline } from "../async/deadline.ts";
import { isPromiseLike } from "../async/promise-like.ts";
import { noteOrigin } from "../errors/handle-error.ts";
import type { OperationKind } from "../operations/operation.ts";
import type { HookFunction, HookMap, HookName, HookOptions } from "./hook-map.ts";

/** A registered hook function with the plugin that owns it. */
export interface Hook<P> {
  readonly run: (payload: P) => void | PromiseLike<void>;
  readonly plugin: string;
  readonly name: HookName;
  readonly timeout: number;
  readonly appliesTo: HookOptions["appliesTo"];
  readonly textMoments: boolean;
  readonly plainLists: boolean;
  readonly severalRecords: boolean;
}

/** Hook functions in the order their plugins were set up. */
export class HookRegistry {
  readonly #hooks = new Map<HookName, Hook<never>[]>();
  readonly #defaultTimeout: number;

  constructor(defaultTimeout: number) {
    this.#defaultTimeout = defaultTimeout;
  }

  on<N extends HookName>(plugin: string, name: N, fn: HookFunction<N>, options: HookOptions = {}): void {
    const { timeout = this.#defaultTimeout, appliesTo } = options;
    const { textMoments = false, plainLists = false, severalRecords = false } = options;
    const list = this.#hooks.get(name) ?? [];
    const run = fn as Hook<never>["run"];
    list.push({ run, plugin, name, timeout, appliesTo, textMoments, plainLists, severalRecords });
    this.#hooks.set(name, list);
  }

  /** All functions of a hook. */
  list<N extends HookName>(name: N): readonly Hook<HookMap[N]>[] {
    return (this.#hooks.get(name) ?? []) as unknown as readonly Hook<HookMap[N]>[];
  }

  /** The functions of an operation hook that apply to an entity and a kind; asked once per pair at boot. */
  listFor<N extends HookName>(name: N, entity: AnyEntity, kind: OperationKind): readonly Hook<HookMap[N]>[] {
    return this.list(name).filter(({ appliesTo }) => appliesTo?.(entity, kind) ?? true);
  }
}

/**
 * Runs hooks in order. Synchronous functions cost no promise: the result is a promise only when one of them returned one.
 */
export function runHooks<P>(hooks: readonly Hook<P>[], payload: P): void | Promise<void> {
  for (let i = 0; i < hooks.length; i++) {
    const hook = hooks[i] as Hook<P>;
    let pending: void | PromiseLike<void>;
    try {
      pending = hook.run(payload);
    } catch (error) {
      throw blamed(hook, error);
    }
    if (isPromiseLike(pending)) return runRest(hooks, i, pending, payload);
  }
}

async function runRest<P>(
  hooks: readonly Hook<P>[],
  index: number,
  first: PromiseLike<void>,
  payload: P,
): Promise<void> {
  let hook = hooks[index] as Hook<P>;
  try {
    await bounded(hook, first);
    for (let i = index + 1; i < hooks.length; i++) {
      hook = hooks[i] as Hook<P>;
      const pending = hook.run(payload);
      if (isPromiseLike(pending)) await bounded(hook, pending);
    }
  } catch (error) {
    throw blamed(hook, error);
  }
}

/** Notes whose hook an unexpected error came from, the innermost one; refusals are what hooks are for. */
function blamed(hook: Hook<never>, error: unknown): unknown {
  if (error instanceof Error && !(isKeelsonError(error) && error.status < 500))
    noteOrigin(error, { plugin: hook.plugin, hook: hook.name });
  return error;
}

function bounded<P>(hook: Hook<P>, pending: PromiseLike<void>): Promise<void> {
  return withDeadline(pending, hook.timeout, `Hook ${hook.name} of plugin "${hook.plugin}"`);
}
