import { type AnyEntity, type EntityModel, referring } from "../../entity/index.ts";

/** A belongsTo relation whose records the database deletes or changes when the record they refer to is deleted. */
export interface Following {
  readonly source: AnyEntity;
  /** The column of the reference. */
  readonly key: string;
  /** Whether the referring records are deleted; otherwise their reference is set to null. */
  readonly isDeleted: boolean;
}

/**
 * The relations to follow on a deletion so that listeners receive all its effects, by the entity that is deleted.
 * `.onDelete("cascade")` is followed further; relations that do not lead to a listener are left to the database.
 */
export function relationsToFollow(
  model: EntityModel,
  isWatched: (entity: AnyEntity) => boolean,
): ReadonlyMap<AnyEntity, readonly Following[]> {
  const all = model.entities.flatMap((target) =>
    referring(model, target)
      .filter(({ onDelete }) => onDelete !== "restrict")
      .map(({ source, foreignKey, onDelete }) => {
        return { target, source, key: foreignKey as string, isDeleted: onDelete === "cascade" };
      }),
  );
  const followed = new Map<AnyEntity, Following[]>();
  const isFollowed = (relation: (typeof all)[number]): boolean =>
    isWatched(relation.source) || (relation.isDeleted && followed.has(relation.source));
  for (let known = -1; known !== followed.size; ) {
    known = followed.size;
    for (const { target } of all.filter(isFollowed)) if (!followed.has(target)) followed.set(target, []);
  }
  for (const { target, ...relation } of all.filter(isFollowed)) followed.get(target)?.push(relation);
  return followed;
}
