import { ServiceContainer } from "./service-container.ts";

let current: ServiceContainer | undefined;

/** The process-wide container, made on first use. Apps have containers of their own. */
export function getGlobalContainer(): ServiceContainer {
  current ??= new ServiceContainer();
  return current;
}

/** Replaces the process-wide container. */
export function setGlobalContainer(container: ServiceContainer): void {
  current = container;
}

/** Forgets the process-wide container without closing it. */
export function clearGlobalContainer(): void {
  current = undefined;
}
