import {
  closeAll,
  type ServiceContainer,
  type ServiceContext,
  type ServiceName,
  type ServiceScope,
  serviceId,
} from "./service-container.ts";

/** The parent of a scope. */
export interface ServiceSource {
  has(id: string): boolean;
  resolveIn<T>(id: string, scope: ServiceScope | undefined): T;
}

/** Values of a scope by name. */
export type ScopeValues = ServiceScope["values"];

/** Values set on the scope; they take precedence over the scope's initial values. */
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

/** Values and services of one request; the scope's own take precedence over the parent's. */
export class ScopedContainer {
  readonly #parent: ServiceSource;
  readonly #values: Values;
  readonly #instances = new Map<string, unknown>();

  /** @param values not copied; looked up on each access */
  constructor(parent: ServiceSource, values: ScopeValues) {
    this.#parent = parent;
    this.#values = new Values(values);
  }

  /** Whether it has created services that may need closing. */
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

  /** Returns a value of the scope, or a service of the parent; "scoped" services are created once per scope. */
  resolve<T = unknown>(name: ServiceName<T>): T {
    const id = serviceId(name);
    if (this.#values.has(id)) return this.#values.get(id) as T;
    return this.#parent.resolveIn<T>(id, { values: this.#values, instances: this.#instances });
  }

  async resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T> {
    return await this.resolve<T | Promise<T>>(serviceId(name));
  }

  /** Sets the driver passed to "scoped" factories. */
  setDriver(driver: unknown): void {
    this.#values.set("driver", driver);
  }

  /** The context passed to factories of this scope. */
  getContext(): ServiceContext {
    return {
      resolve: <T>(name: ServiceName<T>) => this.resolve<T>(name),
      resolveAsync: <T>(name: ServiceName<T>) => this.resolveAsync<T>(name),
      driver: this.#values.get("driver"),
    };
  }

  /** Closes its "scoped" services, last in, first out; all are attempted. */
  dispose(): Promise<void> {
    return closeAll(this.#instances);
  }
}

/** Creates a scope of a container, with values such as `currentUser` or `requestId`. */
export function createScope(
  container: ServiceContainer,
  values: Readonly<Record<string, unknown>> = {},
): ScopedContainer {
  return new ScopedContainer(container, new Map(Object.entries(values)));
}
