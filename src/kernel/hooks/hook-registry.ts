import { isKeelsonError } from "../../entity/base/keelson-error.ts";
import { isPromiseLike, withDeadline } from "../async/promises.ts";
import { noteOrigin } from "../log/logger.ts";
import type { Scope } from "../request/scope.ts";
import type { KernelRoute } from "../routes/kernel-route.ts";
import type { KernelHookOptions, KernelHooks, KernelRouteAuthorization } from "./kernel-hooks.ts";

/** A registered hook function with the plugin that owns it. */
export interface Hook<P> {
  readonly run: (payload: P) => void | PromiseLike<void>;
  readonly plugin: string;
  readonly name: string;
  readonly timeout: number;
  /** The options passed at registration. */
  readonly options: KernelHookOptions;
}

/** Hook functions in the order in which their plugins were set up. @typeParam M payloads by name */
export class HookRegistry<M extends object = KernelHooks> {
  readonly #hooks = new Map<PropertyKey, Hook<never>[]>();
  readonly #defaultTimeout: number;

  constructor(defaultTimeout: number) {
    this.#defaultTimeout = defaultTimeout;
  }

  on(plugin: string, name: string, run: Hook<never>["run"], options: KernelHookOptions = {}): void {
    const list = this.#hooks.get(name) ?? [];
    list.push({ run, plugin, name, timeout: options.timeout ?? this.#defaultTimeout, options });
    this.#hooks.set(name, list);
  }

  /** All functions of a hook. */
  list<N extends keyof M>(name: N): readonly Hook<M[N]>[] {
    return (this.#hooks.get(name) ?? []) as unknown as readonly Hook<M[N]>[];
  }
}

/**
 * Runs hooks in order. Returns a promise only if one of them does, so that synchronous hooks have no promise overhead.
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

/** Records the innermost hook that threw an unexpected error. Refusals are expected. */
function blamed(hook: Hook<never>, error: unknown): unknown {
  if (error instanceof Error && !(isKeelsonError(error) && error.status < 500))
    noteOrigin(error, { plugin: hook.plugin, hook: hook.name });
  return error;
}

function bounded<P>(hook: Hook<P>, pending: PromiseLike<void>): Promise<void> {
  return withDeadline(pending, hook.timeout, `Hook ${hook.name} of plugin "${hook.plugin}"`);
}

/** Whether plugins allow the caller of a scope to use a route with its own rules. */
export async function passesRules(
  hooks: Pick<HookRegistry, "list">,
  route: KernelRoute,
  rules: readonly string[],
  scope: Scope,
): Promise<boolean> {
  const payload: KernelRouteAuthorization = { route, rules, scope, allowed: false };
  await runHooks(hooks.list("route:authorize"), payload);
  return payload.allowed;
}
