import { ConfigurationError } from "../../entity/base/keelson-error.ts";
import {
  ServiceContainer,
  type ServiceContext,
  type ServiceFactory,
  type ServiceOptions,
} from "./service-container.ts";

/** A service definition for `container.register(definition)`. */
export interface ServiceDefinition<T> {
  readonly id: string;
  readonly factory: ServiceFactory<T>;
  readonly options: ServiceOptions;
}

/** A service that is resolved on first use. */
export interface LazyService<T> {
  readonly id: string;
  get(): T;
  getAsync(): Promise<T>;
}

/** A service definition: `register(createService("mailer", () => new Mailer()))`. */
export function createService<T>(
  id: string,
  factory: ServiceFactory<T>,
  options?: ServiceOptions,
): ServiceDefinition<T>;
/** A factory with its dependencies resolved: `createService(["db"], ([db]) => new Repo(db))`. */
export function createService<T>(
  ids: readonly string[],
  factory: (dependencies: unknown[], context: ServiceContext) => T,
): ServiceFactory<T>;
export function createService<T>(
  idOrIds: string | readonly string[],
  factory: ServiceFactory<T> | ((dependencies: unknown[], context: ServiceContext) => T),
  options: ServiceOptions = {},
): ServiceDefinition<T> | ServiceFactory<T> {
  if (typeof idOrIds === "string")
    return Object.freeze({ id: idOrIds, factory: factory as ServiceFactory<T>, options });
  const build = factory as (dependencies: unknown[], context: ServiceContext) => T;
  return (context) =>
    build(
      idOrIds.map((id) => context.resolve(id)),
      context,
    );
}

/** A handle on a service of the process-wide container, resolved on first use. */
export function lazyService<T>(id: string): LazyService<T>;
/** A factory that runs once. */
export function lazyService<T>(factory: ServiceFactory<T>): ServiceFactory<T>;
export function lazyService<T>(idOrFactory: string | ServiceFactory<T>): LazyService<T> | ServiceFactory<T> {
  if (typeof idOrFactory === "function") {
    let made: { readonly value: T } | undefined;
    return (context) => {
      made ??= { value: idOrFactory(context) };
      return made.value;
    };
  }
  if (idOrFactory === "") throw new ConfigurationError("lazyService needs a service id");
  return Object.freeze({
    id: idOrFactory,
    get: () => getGlobalContainer().resolve<T>(idOrFactory),
    getAsync: () => getGlobalContainer().resolveAsync<T>(idOrFactory),
  });
}

let current: ServiceContainer | undefined;

/** The process-wide container, created on first use. Apps have their own containers. */
export function getGlobalContainer(): ServiceContainer {
  current ??= new ServiceContainer();
  return current;
}

/** Replaces the process-wide container. */
export function setGlobalContainer(container: ServiceContainer): void {
  current = container;
}

/** Removes the process-wide container without closing it. */
export function clearGlobalContainer(): void {
  current = undefined;
}
