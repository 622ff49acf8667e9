import { closeAll } from "./close-all.ts";
import type { ServiceContainer, ServiceContext, ServiceScope } from "./service-container.ts";

/** What a scope needs of its parent. */
export interface ServiceSource {
  has(id: string): boolean;
  resolveIn<T>(id: string, scope: ServiceScope | undefined): T;
}

/** Values and services of one request: the scope first, then its parent. */
export class ScopedContainer {
  readonly #parent: ServiceSource;
  readonly #values: Map<string, unknown>;
  readonly #instances = new Map<string, unknown>();

  constructor(parent: ServiceSource, values: Readonly<Record<string, unknown>> = {}) {
    this.#parent = parent;
    this.#values = new Map(Object.entries(values));
  }

  set(id: string, value: unknown): this {
    this.#values.set(id, value);
    return this;
  }

  has(id: string): boolean {
    return this.#values.has(id) || this.#parent.has(id);
  }

  /** A value of the scope, or a service of the parent; "scoped" services are made once per scope. */
  resolve<T = unknown>(id: string): T {
    if (this.#values.has(id)) return this.#values.get(id) as T;
    return this.#parent.resolveIn<T>(id, { values: this.#values, instances: this.#instances });
  }

  async resolveAsync<T = unknown>(id: string): Promise<T> {
    return await this.resolve<T | Promise<T>>(id);
  }

  /** The driver that "scoped" factories see. */
  setDriver(driver: unknown): void {
    this.#values.set("driver", driver);
  }

  /** What factories of this scope are given. */
  getContext(): ServiceContext {
    return {
      resolve: <T>(id: string) => this.resolve<T>(id),
      resolveAsync: <T>(id: string) => this.resolveAsync<T>(id),
      driver: this.#values.get("driver"),
    };
  }

  /** Closes the "scoped" services it made, last in, first out; all are attempted. */
  dispose(): Promise<void> {
    return closeAll(this.#instances);
  }
}

/** A scope over a container, with values such as `currentUser` or `requestId`. */
export function createScope(container: ServiceContainer, values?: Readonly<Record<string, unknown>>): ScopedContainer {
  return new ScopedContainer(container, values);
}
