import {
  closeAll,
  type ServiceContainer,
  type ServiceContext,
  type ServiceName,
  type ServiceScope,
  serviceId,
} from "./service-container.ts";

/** What a scope needs of its parent. */
export interface ServiceSource {
  has(id: string): boolean;
  resolveIn<T>(id: string, scope: ServiceScope | undefined): T;
}

/** Values of a scope by name. */
export type ScopeValues = ServiceScope["values"];

/** Values that were set, before those that the scope came with. */
class Values implements ScopeValues {
  readonly #given: ScopeValues;
  #set: Map<string, unknown> | undefined;

  constructor(given: ScopeValues) {
    this.#given = given;
  }
  has(id: string): boolean {
    return this.#set?.has(id) === true || this.#given.has(id);
  }
  get(id: string): unknown {
    return this.#set?.has(id) === true ? this.#set.get(id) : this.#given.get(id);
  }
  set(id: string, value: unknown): void {
    this.#set ??= new Map();
    this.#set.set(id, value);
  }
}

/** Values and services of one request: the scope first, then its parent. */
export class ScopedContainer {
  readonly #parent: ServiceSource;
  readonly #values: Values;
  readonly #instances = new Map<string, unknown>();

  /** @param values looked up again on each access, not copied */
  constructor(parent: ServiceSource, values: ScopeValues) {
    this.#parent = parent;
    this.#values = new Values(values);
  }

  /** Whether it has made services that want to be closed. */
  get isUsed(): boolean {
    return this.#instances.size > 0;
  }

  set(id: string, value: unknown): this {
    this.#values.set(id, value);
    return this;
  }

  has(name: ServiceName): boolean {
    const id = serviceId(name);
    return this.#values.has(id) || this.#parent.has(id);
  }

  /** A value of the scope, or a service of the parent; "scoped" services are made once per scope. */
  resolve<T = unknown>(name: ServiceName<T>): T {
    const id = serviceId(name);
    if (this.#values.has(id)) return this.#values.get(id) as T;
    return this.#parent.resolveIn<T>(id, { values: this.#values, instances: this.#instances });
  }

  async resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T> {
    return await this.resolve<T | Promise<T>>(serviceId(name));
  }

  /** The driver that "scoped" factories see. */
  setDriver(driver: unknown): void {
    this.#values.set("driver", driver);
  }

  /** What factories of this scope are given. */
  getContext(): ServiceContext {
    return {
      resolve: <T>(name: ServiceName<T>) => this.resolve<T>(name),
      resolveAsync: <T>(name: ServiceName<T>) => this.resolveAsync<T>(name),
      driver: this.#values.get("driver"),
    };
  }

  /** Closes the "scoped" services it made, last in, first out; all are attempted. */
  dispose(): Promise<void> {
    return closeAll(this.#instances);
  }
}

/** A scope over a container, with values such as `currentUser` or `requestId`. */
export function createScope(
  container: ServiceContainer,
  values: Readonly<Record<string, unknown>> = {},
): ScopedContainer {
  return new ScopedContainer(container, new Map(Object.entries(values)));
}
