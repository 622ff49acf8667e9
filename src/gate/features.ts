import type { AnyEntity, EntityModel } from "../entity/index.ts";
import type { Plugin } from "./plugin.ts";

/** Something a definition asks for that only a plugin can do. */
export interface Feature {
  /** Capability that a plugin must provide. */
  readonly name: string;
  /** Where it was asked for, as a reader of the definition knows it. */
  readonly where: string;
}

/** The features an entity definition asks for. */
export function featuresOf(entity: AnyEntity): Feature[] {
  const features: Feature[] = [];
  const add = (name: string, where: string): number => features.push({ name, where });
  if (entity.rules !== undefined) add("rules", `${entity.name}.rules()`);
  if (entity.versioned !== undefined) add("versioned", `${entity.name}.versioned()`);
  if (entity.softDelete !== undefined) add("soft-delete", `${entity.name}.softDelete()`);
  for (const [name, value] of Object.entries(entity.actions)) {
    add("actions", `action "${name}" of ${entity.name}`);
    const { definition = value } = (value ?? {}) as { readonly definition?: unknown };
    if ((definition as { readonly workflow?: unknown } | null | undefined)?.workflow !== undefined)
      add("workflows", `action "${name}" of ${entity.name} is a workflow`);
  }
  for (const [name, relation] of Object.entries(entity.relations))
    if (relation.remote) add("remote-relations", `${entity.name}.${name} is .remote()`);
  return [...features, ...fieldFeatures(entity)];
}

/** Those that its fields ask for, wherever the records come from. */
function fieldFeatures({ name: entity, fields }: AnyEntity): Feature[] {
  return Object.entries(fields).flatMap(([name, { password, omit, encrypted, readable, writable }]) => {
    const at = `${entity}.${name}`;
    const features: Feature[] = [];
    if (password) features.push({ name: "password", where: `${at} is .password()` });
    if (omit) features.push({ name: "omit", where: `${at} is .omit()` });
    if (encrypted) features.push({ name: "encrypted", where: `${at} is .encrypted()` });
    if (readable || writable) features.push({ name: "field-rules", where: `${at} has .readable() or .writable()` });
    return features;
  });
}

/** One sentence per feature that no plugin provides: such an app must not start, least of all store a password in clear. */
export function missingFeatures(model: EntityModel, plugins: readonly Plugin[]): string[] {
  const provided = new Set(plugins.flatMap((plugin) => [plugin.id, ...plugin.provides]));
  return [...model.entities.flatMap(featuresOf), ...model.foreign.flatMap(fieldFeatures)]
    .filter(({ name }) => !provided.has(name))
    .map(({ name, where }) => `${where}, but no plugin in the list provides "${name}"`);
}
