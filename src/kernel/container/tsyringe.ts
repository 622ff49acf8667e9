// tsyringe throws on import unless reflect-metadata is imported first; only this file imports either.
import "reflect-metadata";
import { container, type DependencyContainer } from "tsyringe";

/** An empty tsyringe container that shares nothing with other containers. */
export function emptyContainer(): DependencyContainer {
  return container.createChildContainer();
}

export type { DependencyContainer };
