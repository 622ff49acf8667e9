import type { AnyEntity, EntityModel, ResolvedRelation } from "../../entity/index.ts";
import type { Driver, Row } from "../../gate/index.ts";
import { type Actor, keepEntries, recordChange } from "./audit-entry.ts";

/** Records that are looked at together. */
const PAGE = 500;

/** What is needed to follow a deletion. */
interface Following {
  readonly model: EntityModel;
  readonly audited: ReadonlySet<AnyEntity>;
  readonly driver: Driver;
  readonly actor: Actor;
  readonly seen: Set<string>;
}

/**
 * Keeps what the database is about to do by itself to records that point to one that is deleted: `.onDelete("cascade")`
 * and `.onDelete("setNull")`, however far it goes.
 */
export function followDeletion(given: Omit<Following, "seen">, entity: AnyEntity, id: string): Promise<void> {
  return follow({ ...given, seen: new Set() }, entity, id);
}

async function follow(following: Following, entity: AnyEntity, id: string): Promise<void> {
  const { model, seen } = following;
  const key = `${entity.name} ${id}`;
  if (seen.has(key)) return; // records that point to each other
  seen.add(key);
  for (const source of model.entities)
    for (const relation of model.relationsOf(source)) {
      const { type, target, remote, onDelete } = relation;
      if (type !== "belongsTo" || target !== entity || remote !== undefined || onDelete === "restrict") continue;
      await followRelation(following, source, relation, id);
    }
}

async function followRelation(
  following: Following,
  source: AnyEntity,
  { foreignKey, onDelete }: ResolvedRelation,
  id: string,
): Promise<void> {
  const { driver, audited, actor, seen } = following;
  const key = foreignKey as string;
  for (let after: Row = {}; ; ) {
    const rows = await driver.findMany(source, { where: { [key]: id, ...after }, limit: PAGE });
    const isDeleted = onDelete === "cascade";
    if (audited.has(source)) {
      const left = rows.filter((row) => !seen.has(`${source.name} ${row.id}`));
      await keepEntries(
        driver,
        actor,
        left.flatMap((row) =>
          isDeleted
            ? recordChange("delete", source, row, null)
            : recordChange("update", source, row, { ...row, [key]: null }),
        ),
      );
    }
    if (isDeleted) for (const row of rows) await follow(following, source, row.id as string);
    if (rows.length < PAGE) return;
    after = { id: { gt: rows.at(-1)?.id } };
  }
}
