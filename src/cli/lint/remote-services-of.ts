import type { EntityModel } from "../../entity/index.ts";
import type { Keelson, RemoteService } from "../../index.ts";
import { isPromiseLike } from "../../kernel/index.ts";

/**
 * The services that remote relations name, made as their first use would make them, and asked nothing. What a factory only
 * promises is not waited for, and one that throws tells whoever uses it.
 */
export function remoteServicesOf(
  { hasService, resolve }: Pick<Keelson, "hasService" | "resolve">,
  { entities, foreign }: EntityModel,
): ReadonlyMap<string, RemoteService> {
  const relations = [...entities, ...foreign].flatMap((entity) => Object.values(entity.relations));
  const names = new Set(relations.flatMap(({ remote }) => remote?.service ?? []));
  const services = new Map<string, RemoteService>();
  for (const name of names) {
    if (!hasService(name)) continue;
    try {
      const service = resolve(name);
      if (isPromiseLike(service)) service.then(undefined, () => {});
      else if (typeof service === "object" && service !== null) services.set(name, service as RemoteService);
    } catch {
      // Not a matter of definitions.
    }
  }
  return services;
}
