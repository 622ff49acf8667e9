import { ConfigurationError } from "../../entity/base/keelson-error.ts";
import { isPromiseLike } from "../async/promises.ts";
import { type DependencyContainer, emptyContainer } from "./tsyringe.ts";

/** A service that is being made, and the services whose factories requested it. */
type Making = { readonly id: string; readonly askedBy: Set<Making> };

/** What is being made, by the promise that a cache holds of it. */
const PENDING = new WeakMap<object, Making>();

/**
 * Ids from a service that waits for another one, directly or through others, down to that one; empty when it does not
 * wait.
 */
function wayTo({ id, askedBy }: Making, from: string): readonly string[] {
  if (id === from) return [id];
  const way = [...askedBy].map((asker) => wayTo(asker, from)).find(({ length }) => length > 0);
  return way === undefined ? [] : [...way, id];
}

/**
 * How long an instance lives: with the container, never (a new one per resolve), or with the scope that requests it.
 */
export type ServiceLifecycle = "singleton" | "transient" | "scoped";

/** What a factory may ask for. */
export interface ServiceContext {
  resolve<T = unknown>(name: ServiceName<T>): T;
  resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T>;
  /** The driver of the app, or of the scope's transaction. */
  readonly driver: unknown;
}

declare const kService: unique symbol;

/** The name of a service, with the type of what is found under it. Made by `token`. */
export interface ServiceToken<T> {
  readonly id: string;
  readonly [kService]?: T;
}

/** A service by its name or its token. */
export type ServiceName<T = unknown> = string | ServiceToken<T>;

/**
 * A typed name for a service, or for a hook: `export const Mailer = token<Mailer>("acme.mailer")`.
 * @param id unique in an app; tokens with one id mean one service
 */
export function token<T>(id: string): ServiceToken<T> {
  return Object.freeze({ id });
}

/** The id behind the name of a service. */
export function serviceId(name: ServiceName): string {
  return typeof name === "string" ? name : name.id;
}

/** Makes a service, given what it depends on. */
export type ServiceFactory<T = unknown> = (context: ServiceContext) => T;

/** How a service is registered. */
export interface ServiceOptions {
  /** @default "singleton" */
  readonly lifecycle?: ServiceLifecycle | undefined;
  readonly tags?: readonly string[] | undefined;
}

interface Registration {
  readonly lifecycle: ServiceLifecycle;
  readonly tags: readonly string[];
}

/** What a scope shows to the services that are made in it. */
export interface ServiceScope {
  readonly values: Pick<ReadonlyMap<string, unknown>, "has" | "get">;
  /** The "scoped" services it made, those that finished last at the end. */
  readonly instances: Map<string, unknown>;
}

class Container {
  readonly #tokens: DependencyContainer = emptyContainer();
  readonly #registrations = new Map<string, Registration>();
  /** What factories made, the last to finish at the end; tsyringe forgets it, so this class closes it. */
  readonly #instances = new Map<string, unknown>();
  #driver: unknown;

  /**
   * Registers a service.
   * @throws ConfigurationError when the id is taken: tsyringe would silently let the last one win
   */
  register<T>(
    id: string | { readonly id: string; readonly factory: ServiceFactory<T>; readonly options?: ServiceOptions },
    factory?: ServiceFactory<T>,
    options: ServiceOptions = {},
  ): this {
    if (typeof id === "object") return this.register(id.id, id.factory, id.options);
    if (factory === undefined || typeof factory !== "function")
      throw new ConfigurationError(`Service "${id}" needs a factory function`);
    if (this.#registrations.has(id)) throw new ConfigurationError(`Service "${id}" is registered twice`);
    this.#registrations.set(id, { lifecycle: options.lifecycle ?? "singleton", tags: options.tags ?? [] });
    this.#tokens.register(id, { useFactory: () => factory });
    return this;
  }

  /** Registers a finished instance; the container does not close it. */
  registerInstance<T>(id: string, instance: T, options: Pick<ServiceOptions, "tags"> = {}): this {
    return this.register(id, () => instance, { ...options, lifecycle: "transient" });
  }

  has(name: ServiceName): boolean {
    return this.#registrations.has(serviceId(name));
  }

  /**
   * The service, created on first use.
   * @throws ConfigurationError when it is not registered, or when factories form a circle (printed as a -> b -> a)
   */
  resolve<T = unknown>(name: ServiceName<T>): T {
    return this.resolveIn<T>(serviceId(name));
  }

  /** As `resolve`, for factories that return a promise; concurrent callers share one. */
  async resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T> {
    return await this.resolveIn<T | Promise<T>>(serviceId(name));
  }

  /** @internal The scope goes first and keeps "scoped" instances; `by` is the service whose factory requests it. */
  resolveIn<T>(id: string, scope?: ServiceScope, by?: Making): T {
    if (scope?.values.has(id)) return scope.values.get(id) as T;
    const registration = this.#registrations.get(id);
    if (registration === undefined) throw new ConfigurationError(`Service "${id}" not found`);
    const { lifecycle } = registration;
    const cache = lifecycle === "singleton" ? this.#instances : lifecycle === "scoped" ? scope?.instances : undefined;
    const known = cache?.get(id);
    const pending = PENDING.get(known as object);
    // In a circle, an unfinished service would wait for itself for ever; a finished one may be used.
    if (cache?.has(id) && pending === undefined) return known as T;
    const waiting = by === undefined ? [] : wayTo(by, id);
    if (waiting.length > 0)
      throw new ConfigurationError(`Services depend on each other in a circular way: ${[...waiting, id].join(" -> ")}`);
    const making = pending ?? { id, askedBy: new Set() };
    if (by !== undefined) making.askedBy.add(by);
    if (pending !== undefined) return known as T;
    // A singleton outlives every scope, so it must not be built from one.
    const inner = lifecycle === "singleton" ? undefined : scope;
    const made = this.#tokens.resolve<ServiceFactory>(id)({
      resolve: <D>(other: ServiceName<D>) => this.resolveIn<D>(serviceId(other), inner, making),
      resolveAsync: async <D>(other: ServiceName<D>) =>
        await this.resolveIn<D | Promise<D>>(serviceId(other), inner, making),
      driver: inner?.values.get("driver") ?? this.#driver,
    });
    return (cache === undefined ? made : keep(cache, making, made)) as T;
  }

  /** Ids of the services with a tag. */
  getByTag(tag: string): string[] {
    return [...this.#registrations].filter(([, { tags }]) => tags.includes(tag)).map(([id]) => id);
  }

  getServiceIds(): string[] {
    return [...this.#registrations.keys()];
  }

  /** The driver that factories see. */
  setDriver(driver: unknown): void {
    this.#driver = driver;
  }

  /** Makes all singletons. */
  async initializeAll(): Promise<void> {
    for (const [id, { lifecycle }] of this.#registrations) if (lifecycle === "singleton") await this.resolveAsync(id);
  }

  /** Closes what factories made (`dispose`, `close` or the disposal symbols), last in, first out; all are attempted. */
  async dispose(): Promise<void> {
    await closeAll(this.#instances);
  }
}

/** Keeps what a factory made: a promise until it settles, then its value, or nothing, so that it may be tried again. */
function keep(cache: Map<string, unknown>, making: Making, made: unknown): unknown {
  const kept = isPromiseLike(made) ? Promise.resolve(made) : made; // once: each `then` of a thenable may start it again
  cache.set(making.id, kept);
  const forget = (): boolean => cache.get(making.id) === kept && cache.delete(making.id);
  if (!(kept instanceof Promise)) return kept;
  PENDING.set(kept, making);
  kept.then((value) => forget() && cache.set(making.id, value), forget);
  return kept;
}

/** Named services with lifecycles. A facade over tsyringe without decorators; usable with and without `new`. */
export type ServiceContainer = Container;
/** Services by name, made on first use; callable with and without `new`. */
export const ServiceContainer: typeof Container & (() => Container) = new Proxy(Container, {
  apply: (target) => new target(),
}) as typeof Container & (() => Container);

/** Something a container made and closes again. */
type Closable = { [K in "dispose" | "close" | typeof Symbol.asyncDispose | typeof Symbol.dispose]?: () => unknown };

/** Closes instances, last in, first out; all are attempted. A factory that failed has left nothing to close. */
export async function closeAll(instances: Map<string, unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const made of [...new Set(instances.values())].reverse()) {
    const instance = await Promise.resolve(made).catch(() => undefined);
    await closeInstance(instance).catch((error: unknown) => failures.push(error));
  }
  instances.clear();
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} services failed to close`);
}

async function closeInstance(instance: unknown): Promise<void> {
  const closable = (instance ?? {}) as Closable;
  const end = closable[Symbol.asyncDispose] ?? closable[Symbol.dispose] ?? closable.dispose ?? closable.close;
  if (typeof end === "function") await end.call(instance);
}
