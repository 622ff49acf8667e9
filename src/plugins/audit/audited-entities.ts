import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { didYouMean } from "../../kernel/index.ts";
import { ENTRY } from "./audit-entry.ts";
import type { AuditOptions } from "./audit-options.ts";

/** The entities whose changes are kept. A name that no entity has is a problem: its changes would be missed. */
export function auditedEntities(
  model: EntityModel,
  { entities, except = [] }: AuditOptions,
  problem: (sentence: string) => void,
): ReadonlySet<AnyEntity> {
  const all = model.entities.filter(({ name }) => name !== ENTRY);
  const names = all.map(({ name }) => name);
  for (const [option, given] of Object.entries({ entities: entities ?? [], except }))
    for (const name of given)
      if (!names.includes(name))
        problem(`audit({ ${option} }): there is no entity "${name}" to keep changes of.${didYouMean(name, names)}`);
  const isChosen = ({ name, internal }: AnyEntity): boolean => entities?.includes(name) ?? !internal;
  return new Set(all.filter((entity) => isChosen(entity) && !except.includes(entity.name)));
}
