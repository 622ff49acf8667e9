import "./lend-reflect.ts"; // before tsyringe

import { container, type DependencyContainer } from "tsyringe";
import { takeReflectBack } from "./lend-reflect.ts";

takeReflectBack();

/** An empty tsyringe container that shares nothing with other containers. */
export function emptyContainer(): DependencyContainer {
  return container.createChildContainer();
}

export type { DependencyContainer };
