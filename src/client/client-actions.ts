import type { ActionTypes, BuiltAction, DefinitionOf } from "../entity/index.ts";
import type { ClientEntity } from "./client-entity.ts";
import type { CallOptions } from "./client-options.ts";
import type { OverTheWire, Sendable } from "./over-the-wire.ts";

/** Work that may go on after the answer: its report is `client.$runs.get(runId)`. */
export type StartedRun<O> =
  | { readonly status: "running"; readonly runId: string }
  | { readonly status: "ended"; readonly result: O };

type Arguments<G> = [G] extends [undefined]
  ? [given?: undefined, options?: CallOptions]
  : Record<never, never> extends G
    ? [given?: Sendable<G>, options?: CallOptions]
    : [given: Sendable<G>, options?: CallOptions];

/** How an action is called. */
interface Call<A extends readonly unknown[], O> {
  (...args: A): Promise<O>;
  /**
   * Asks not to wait (`Prefer: respond-async`, RFC 7240). Actions that are no workflow, runs that are not remembered and
   * callers without a name are waited for all the same: `status` tells.
   */
  start(...args: A): Promise<StartedRun<O>>;
}

type CallOf<T extends ActionTypes> = T["resource"] extends true
  ? Call<[id: string, ...Arguments<T["given"]>], OverTheWire<T["output"]>>
  : Call<Arguments<T["given"]>, OverTheWire<T["output"]>>;

type ActionCall<A> = A extends (...options: never[]) => infer B
  ? ActionCall<B>
  : A extends BuiltAction<infer T>
    ? A extends { readonly definition: object }
      ? CallOf<T>
      : never
    : Call<readonly unknown[], unknown>;

type ActionsOf<E> = DefinitionOf<E> extends { readonly $entity?: { readonly actions: infer A } } ? A : never;

/** Actions of an entity as methods of its client; names of the client's own methods mean those. */
export type ClientActions<E> = {
  readonly [K in keyof ActionsOf<E> & string as K extends keyof ClientEntity<E> ? never : K]: ActionCall<
    ActionsOf<E>[K]
  >;
};
