// tsyringe throws on import unless reflect-metadata came first; this is the only file that imports either.
import "reflect-metadata";
import { container, type DependencyContainer } from "tsyringe";

/** An empty tsyringe container that shares nothing with others. */
export function emptyContainer(): DependencyContainer {
  return container.createChildContainer();
}

export type { DependencyContainer };
