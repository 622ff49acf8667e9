import type { LintRule } from "./finding.ts";

/** Records whose owners belong to another entity than the callers do. */
export const ownersOfSeveralEntities: LintRule = {
  id: "owners-of-several-entities",
  title: "Owners of several entities",
  why: "A caller has one id. Where records of two entities can be owners, a caller owns what the record of the other one with the same id owns.",
  fix: "Let .ownedBy() lead to the entity that getUser() gives callers of. Ids that never repeat, such as UUIDs, make it harmless.",
  level: "note",
  find({ model }) {
    const owned = model.entities.flatMap((entity) => {
      const { name, ownedBy } = entity;
      if (ownedBy === undefined) return [];
      const owner = ownedBy === "id" ? entity : model.relation(entity, ownedBy)?.target;
      return owner === undefined ? [] : [{ name, owner: owner.name, isSelf: ownedBy === "id" }];
    });
    const callers = (owned.find(({ isSelf }) => isSelf) ?? owned[0])?.owner;
    return owned
      .filter(({ owner }) => owner !== callers)
      .map(({ name, owner }) => ({
        at: name,
        what: `it is owned by records of ${owner}, and others by those of ${callers}`,
      }));
  },
};
