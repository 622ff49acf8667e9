import { ConfigurationError } from "../../entity/base/keelson-error.ts";
import { isPromiseLike } from "../async/promises.ts";
import { type DependencyContainer, emptyContainer } from "./tsyringe.ts";

/** A service that is being created, and the services whose factories requested it. */
type Making = { readonly id: string; readonly askedBy: Set<Making> };

/** Services that are being created, by their cached promise. */
const PENDING = new WeakMap<object, Making>();

/**
 * The ids on the path from `from`, which directly or indirectly waits for `id`, to `id`; empty when it does not wait
 * for it.
 */
function wayTo({ id, askedBy }: Making, from: string): readonly string[] {
  if (id === from) return [id];
  const way = [...askedBy].map((asker) => wayTo(asker, from)).find(({ length }) => length > 0);
  return way === undefined ? [] : [...way, id];
}

/**
 * The lifetime of an instance: that of the container, none (a new instance per `resolve`), or that of the scope that
 * requests it.
 */
export type ServiceLifecycle = "singleton" | "transient" | "scoped";

/** The context of a factory. */
export interface ServiceContext {
  resolve<T = unknown>(name: ServiceName<T>): T;
  resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T>;
  /** The driver of the app, or of the scope's transaction. */
  readonly driver: unknown;
}

declare const kService: unique symbol;

/** The name of a service, with the service's type. Made by `token`. */
export interface ServiceToken<T> {
  readonly id: string;
  readonly [kService]?: T;
}

/** The name or the token of a service. */
export type ServiceName<T = unknown> = string | ServiceToken<T>;

/**
 * Makes a typed name for a service or a hook: `export const Mailer = token<Mailer>("acme.mailer")`.
 * @param id unique in an app; tokens with the same id name the same service
 */
export function token<T>(id: string): ServiceToken<T> {
  return Object.freeze({ id });
}

/** The id of a service name. */
export function serviceId(name: ServiceName): string {
  return typeof name === "string" ? name : name.id;
}

/** Creates a service; it resolves its dependencies from the context. */
export type ServiceFactory<T = unknown> = (context: ServiceContext) => T;

/** Options for registering a service. */
export interface ServiceOptions {
  /** @default "singleton" */
  readonly lifecycle?: ServiceLifecycle | undefined;
  readonly tags?: readonly string[] | undefined;
}

interface Registration {
  readonly lifecycle: ServiceLifecycle;
  readonly tags: readonly string[];
}

/** The values and instances of a scope. */
export interface ServiceScope {
  readonly values: Pick<ReadonlyMap<string, unknown>, "has" | "get">;
  /** The "scoped" services it created, in the order in which their creation finished. */
  readonly instances: Map<string, unknown>;
}

class Container {
  readonly #tokens: DependencyContainer = emptyContainer();
  readonly #registrations = new Map<string, Registration>();
  /**
   * Created instances, in the order in which their creation finished. tsyringe does not track them, so this class
   * closes them.
   */
  readonly #instances = new Map<string, unknown>();
  #driver: unknown;

  /**
   * Registers a service.
   * @throws ConfigurationError when the id is already registered: tsyringe would silently use the last registration
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

  /** Registers an existing instance; the container does not close it. */
  registerInstance<T>(id: string, instance: T, options: Pick<ServiceOptions, "tags"> = {}): this {
    return this.register(id, () => instance, { ...options, lifecycle: "transient" });
  }

  has(name: ServiceName): boolean {
    return this.#registrations.has(serviceId(name));
  }

  /**
   * Returns the service, creating it on first use.
   * @throws ConfigurationError when it is not registered, or when factories depend on each other in a circle (printed
   *   as a -> b -> a)
   */
  resolve<T = unknown>(name: ServiceName<T>): T {
    return this.resolveIn<T>(serviceId(name));
  }

  /** Like `resolve`, for factories that return a promise; concurrent callers share one instance. */
  async resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T> {
    return await this.resolveIn<T | Promise<T>>(serviceId(name));
  }

  /**
   * @internal The scope's values take precedence; it keeps "scoped" instances. `by` is the service whose factory
   *   requests it.
   */
  resolveIn<T>(id: string, scope?: ServiceScope, by?: Making): T {
    if (scope?.values.has(id)) return scope.values.get(id) as T;
    const registration = this.#registrations.get(id);
    if (registration === undefined) throw new ConfigurationError(`Service "${id}" not found`);
    const { lifecycle } = registration;
    const cache = lifecycle === "singleton" ? this.#instances : lifecycle === "scoped" ? scope?.instances : undefined;
    const known = cache?.get(id);
    const pending = PENDING.get(known as object);
    // In a circle, an unfinished service would wait for itself forever; a finished one may be used.
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

  /** Sets the driver passed to factories. */
  setDriver(driver: unknown): void {
    this.#driver = driver;
  }

  /** Creates all singletons. */
  async initializeAll(): Promise<void> {
    for (const [id, { lifecycle }] of this.#registrations) if (lifecycle === "singleton") await this.resolveAsync(id);
  }

  /** Closes created instances (`dispose`, `close` or the disposal symbols), last in, first out; all are attempted. */
  async dispose(): Promise<void> {
    await closeAll(this.#instances);
  }
}

/**
 * Caches the result of a factory. A promise is replaced by its value, or removed if it rejects, so that creation can be
 * retried.
 */
function keep(cache: Map<string, unknown>, making: Making, made: unknown): unknown {
  const kept = isPromiseLike(made) ? Promise.resolve(made) : made; // once: each `then` may run a thenable again
  cache.set(making.id, kept);
  const forget = (): boolean => cache.get(making.id) === kept && cache.delete(making.id);
  if (!(kept instanceof Promise)) return kept;
  PENDING.set(kept, making);
  kept.then((value) => forget() && cache.set(making.id, value), forget);
  return kept;
}

/** Named services with lifecycles. A facade over tsyringe without decorators; usable with and without `new`. */
export type ServiceContainer = Container;
/** Services by name, created on first use; callable with and without `new`. */
export const ServiceContainer: typeof Container & (() => Container) = new Proxy(Container, {
  apply: (target) => new target(),
}) as typeof Container & (() => Container);

/** An instance that a container can close. */
type Closable = { [K in "dispose" | "close" | typeof Symbol.asyncDispose | typeof Symbol.dispose]?: () => unknown };

/** Closes instances, last in, first out; all are attempted. Failed factories are skipped. */
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
