import type { AnyEntity, ResolvedRelation } from "../../../entity/index.ts";
import { type Driver, type EntityRef, isNestedWrite } from "../../../gate/index.ts";
import type { StepContext } from "../definition/step.ts";
import { definitionOf } from "./entity-step.ts";

/** Pairs of a manyToMany relation, from the side on which the driver stores it. */
export interface Pairs {
  readonly entity: string;
  readonly relation: string;
  readonly pairs: readonly { readonly source: string; readonly target: string }[];
}

/** All pairs of a record, on either side; empty outside of an app, where relations are unknown. */
export async function pairsOf(context: StepContext, ref: EntityRef, id: string): Promise<readonly Pairs[]> {
  const { driver } = context;
  const found: Pairs[] = [];
  for (const { relation, isOwn } of linksOf(context, ref)) {
    const { source, name } = relation;
    const pairs = isOwn
      ? await driver.links(source, name, [id])
      : (await driver.findMany(source, { where: { [name]: { id } }, select: ["id"] }))
          .filter((row) => source !== relation.target || row.id !== id) // these are listed on the record's own side
          .map((row) => ({ source: row.id as string, target: id }));
    if (pairs.length > 0) found.push({ entity: source.name, relation: name, pairs });
  }
  return found;
}

/** The current pairs of those relations that some data writes. */
export async function writtenPairs(
  context: StepContext,
  ref: EntityRef,
  id: string,
  data: Readonly<Record<string, unknown>>,
): Promise<readonly Pairs[]> {
  const written = linksOf(context, ref).filter(
    ({ relation, isOwn }) => isOwn && (`${relation.name}Ids` in data || relation.name in data),
  );
  return Promise.all(
    written.map(async ({ relation: { source, name } }) => ({
      entity: source.name,
      relation: name,
      pairs: await context.driver.links(source, name, [id]),
    })),
  );
}

/**
 * The relations of which some data writes records in a way that the compensation cannot take back. It takes back
 * references and pairs, and deletes children of a created record that the database deletes with it.
 */
export function otherWrites(
  context: StepContext,
  ref: EntityRef,
  data: Readonly<Record<string, unknown>>,
  kind: "create" | "update",
): readonly string[] {
  const { scope } = context;
  const entity = definitionOf(ref, context);
  if (scope === undefined || entity === undefined) return [];
  const { model } = scope.app;
  const isTakenBack = ({ type, target, foreignKey }: ResolvedRelation, verb: string, given: unknown): boolean => {
    if (type === "belongsTo" || type === "manyToMany") return ["connect", "disconnect", "set"].includes(verb);
    const key = model.relationsOf(target).find((one) => one.type === "belongsTo" && one.foreignKey === foreignKey);
    const items = Array.isArray(given) ? given : [given];
    const isAlone = items.every((item) => !Object.values(item ?? {}).some(isNestedWrite));
    return kind === "create" && verb === "create" && key?.onDelete === "cascade" && isAlone;
  };
  return Object.entries(data).flatMap(([name, value]) => {
    const relation = isNestedWrite(value) ? model.relation(entity, name) : undefined;
    if (relation === undefined || relation.remote !== undefined) return [];
    return Object.entries(value as object).every(([verb, given]) => isTakenBack(relation, verb, given)) ? [] : [name];
  });
}

/** The pairs in `these` that are not in `those`. */
export function withoutPairs(these: readonly Pairs[], those: readonly Pairs[]): readonly Pairs[] {
  const key = (of: Pairs, { source, target }: Pairs["pairs"][number]): string =>
    JSON.stringify([of.entity, of.relation, source, target]);
  const known = new Set(those.flatMap((of) => of.pairs.map((pair) => key(of, pair))));
  return these.map((of) => ({ ...of, pairs: of.pairs.filter((pair) => !known.has(key(of, pair))) }));
}

/** Adds pairs again, if both records still exist. */
export async function linkAgain({ driver, scope }: StepContext, all: readonly Pairs[]): Promise<void> {
  if (scope === undefined) return; // relations are unknown outside of an app
  for (const { entity, relation, pairs } of all) {
    const source = scope.app.model.get(entity) as AnyEntity;
    const { target } = scope.app.model.relation(source, relation) as ResolvedRelation;
    const sources = await stillThere(
      driver,
      source,
      pairs.map((pair) => pair.source),
    );
    const targets = await stillThere(
      driver,
      target,
      pairs.map((pair) => pair.target),
    );
    for (const pair of pairs)
      if (sources.has(pair.source) && targets.has(pair.target))
        await driver.link(source, relation, pair.source, [pair.target]);
  }
}

export async function unlinkAgain({ driver }: StepContext, all: readonly Pairs[]): Promise<void> {
  for (const { entity, relation, pairs } of all)
    for (const { source, target } of pairs) await driver.unlink(entity, relation, source, [target]);
}

/**
 * The relation whose records would be deleted or changed with a record, so that its deletion cannot be undone.
 * @returns undefined if no record would be affected
 */
export async function whatFollows(context: StepContext, ref: EntityRef, id: string): Promise<string | undefined> {
  const { driver, scope } = context;
  const entity = definitionOf(ref, context);
  for (const source of scope?.app.model.entities ?? [])
    for (const { name, type, target, remote, onDelete, foreignKey } of scope?.app.model.relationsOf(source) ?? []) {
      if (type !== "belongsTo" || target !== entity || remote !== undefined || onDelete === "restrict") continue;
      const others = { [foreignKey as string]: id, ...(source === entity ? { id: { ne: id } } : {}) };
      if ((await driver.findOne(source, others, { select: ["id"] })) !== null) return `${source.name}.${name}`;
    }
  return undefined;
}

/** The manyToMany relations of an entity, and those of other entities to it that have no inverse. */
function linksOf(
  context: StepContext,
  ref: EntityRef,
): readonly { readonly relation: ResolvedRelation; readonly isOwn: boolean }[] {
  const { scope } = context;
  const entity = definitionOf(ref, context);
  if (scope === undefined || entity === undefined) return [];
  const { model } = scope.app;
  const isLink = ({ type, remote }: ResolvedRelation): boolean => type === "manyToMany" && remote === undefined;
  const own = model.relationsOf(entity).filter(isLink);
  const others = model.entities
    .flatMap((source) => model.relationsOf(source))
    .filter((relation) => isLink(relation) && relation.target === entity && relation.inverse === undefined);
  return [
    ...own.map((relation) => ({ relation, isOwn: true })),
    ...others.map((relation) => ({ relation, isOwn: false })),
  ];
}

async function stillThere(driver: Driver, entity: AnyEntity, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await driver.findMany(entity, { where: { id: { in: [...new Set(ids)] } }, select: ["id"] });
  return new Set(rows.map(({ id }) => id as string));
}
