import { ConfigurationError } from "../../entity/index.ts";
import { type DependencyContainer, emptyContainer } from "./tsyringe.ts";

/** How long an instance lives: with the container, never (a new one per resolve), or with the scope that asks for it. */
export type ServiceLifecycle = "singleton" | "transient" | "scoped";

/** What a factory may ask for. */
export interface ServiceContext {
  resolve<T = unknown>(id: string): T;
  resolveAsync<T = unknown>(id: string): Promise<T>;
  /** The driver of the app, or of the scope's transaction. */
  readonly driver: unknown;
}

export type ServiceFactory<T = unknown> = (context: ServiceContext) => T;

export interface ServiceOptions {
  /** @default "singleton" */
  readonly lifecycle?: ServiceLifecycle | undefined;
  readonly tags?: readonly string[] | undefined;
}

interface Registration {
  readonly factory: ServiceFactory;
  readonly lifecycle: ServiceLifecycle;
  readonly tags: readonly string[];
}

/** Something a container made and closes again. */
type Closable = {
  dispose?(): unknown;
  close?(): unknown;
  [Symbol.asyncDispose]?(): unknown;
  [Symbol.dispose]?(): unknown;
};

class Container {
  readonly #tokens: DependencyContainer = emptyContainer();
  readonly #registrations = new Map<string, Registration>();
  readonly #instances = new Map<string, unknown>();
  /** In order of creation; tsyringe forgets what factories made, so closing is ours. */
  readonly #made: unknown[] = [];
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
    this.#registrations.set(id, { factory, lifecycle: options.lifecycle ?? "singleton", tags: options.tags ?? [] });
    this.#tokens.register(id, { useFactory: () => factory });
    return this;
  }

  /** Registers a finished instance; the container does not close it. */
  registerInstance<T>(id: string, instance: T, options: Pick<ServiceOptions, "tags"> = {}): this {
    this.register(id, () => instance, options);
    this.#instances.set(id, instance);
    return this;
  }

  has(id: string): boolean {
    return this.#registrations.has(id);
  }

  /**
   * The service, made on first use.
   * @throws ConfigurationError when it is not registered, or when factories go round in a circle (printed as a -> b -> a)
   */
  resolve<T = unknown>(id: string): T {
    return this.resolveIn<T>(id, undefined, []);
  }

  /** As `resolve`, for factories that return a promise; concurrent callers share one. */
  async resolveAsync<T = unknown>(id: string): Promise<T> {
    return await this.resolve<T | Promise<T>>(id);
  }

  /** @internal The scope keeps "scoped" instances; `chain` finds circles. */
  resolveIn<T>(
    id: string,
    scope: { readonly instances: Map<string, unknown>; readonly driver: unknown } | undefined,
    chain: readonly string[],
  ): T {
    const registration = this.#registrations.get(id);
    if (registration === undefined) throw new ConfigurationError(`Service "${id}" not found`);
    const { lifecycle } = registration;
    const cache = lifecycle === "singleton" ? this.#instances : lifecycle === "scoped" ? scope?.instances : undefined;
    if (cache?.has(id)) return cache.get(id) as T;
    if (chain.includes(id))
      throw new ConfigurationError(`Services depend on each other in a circular way: ${[...chain, id].join(" -> ")}`);
    const path = [...chain, id];
    // A singleton outlives every scope, so it must not be built from one.
    const inner = lifecycle === "singleton" ? undefined : scope;
    const made = this.#tokens.resolve<ServiceFactory>(id)({
      resolve: <D>(other: string) => this.resolveIn<D>(other, inner, path),
      resolveAsync: async <D>(other: string) => await this.resolveIn<D | Promise<D>>(other, inner, path),
      driver: inner?.driver ?? this.#driver,
    });
    cache?.set(id, made);
    if (lifecycle === "singleton") this.#made.push(made);
    if (made instanceof Promise) made.catch(() => cache?.delete(id)); // a failed start may be tried again
    return made as T;
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
    const failures: unknown[] = [];
    for (const made of this.#made.splice(0).reverse()) {
      try {
        await closeInstance(await made);
      } catch (error) {
        failures.push(error);
      }
    }
    this.#instances.clear();
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} services failed to close`);
  }
}

async function closeInstance(instance: unknown): Promise<void> {
  if ((typeof instance !== "object" && typeof instance !== "function") || instance === null) return;
  const { dispose, close } = instance as Closable;
  const end = (instance as Closable)[Symbol.asyncDispose] ?? (instance as Closable)[Symbol.dispose] ?? dispose ?? close;
  if (typeof end === "function") await end.call(instance);
}

/** Named services with lifecycles. A facade over tsyringe without decorators; usable with and without `new`. */
export type ServiceContainer = Container;
export const ServiceContainer: typeof Container & (() => Container) = new Proxy(Container, {
  apply: (target) => new target(),
}) as typeof Container & (() => Container);
