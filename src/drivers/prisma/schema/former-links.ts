import {
  type AnyEntity,
  createModel,
  type EntityLike,
  type EntityModel,
  linkTableName,
  type RelationDefinition,
  type ResolvedRelation,
} from "../../../entity/index.ts";
import { type Catalog, type LinkTable, linkTable, managedLinks } from "../../sql/index.ts";

/** A table that may hold the pairs of a relation, and the column of the relation's own end. */
export interface FormerLink extends Pick<LinkTable, "table" | "own"> {
  /** Whether `.renamedFrom()` names it. */
  readonly asked: boolean;
}

/** The former names that a model uses. */
interface FormerNames {
  readonly entities: boolean;
  readonly relations: boolean;
}

/** Both names may have changed, or one of them before the other. */
const FORMER: readonly FormerNames[] = [
  { entities: true, relations: true },
  { entities: true, relations: false },
  { entities: false, relations: true },
];

/** Prisma's default name for the only table of pairs between two models. */
export function plainTableName({ source, target }: ResolvedRelation): string {
  return linkTableName([source.name, target.name].sort().join("To"));
}

/** Whether two relations connect the same two entities. */
export function isAlongside(one: ResolvedRelation, other: ResolvedRelation): boolean {
  return plainTableName(one) === plainTableName(other);
}

/** The names that the table had while only one side was declared, or while it had Prisma's default name. */
function outgrownLinks(model: EntityModel, relation: ResolvedRelation): LinkTable[] {
  const { source, target, inverse, ...rest } = relation;
  const links: LinkTable[] = [];
  if (inverse !== undefined) {
    const { table, own, other } = linkTable({ ...rest, source: target, target: source, name: inverse });
    const turned = { ...linkTable(relation), table, called: table, own: other, other: own };
    links.push(linkTable({ ...rest, source, target }), turned);
  }
  const isOnly = managedLinks(model).filter((other) => isAlongside(other, relation)).length === 1;
  if (isOnly && source !== target) links.push({ ...linkTable(relation), table: plainTableName(relation) });
  return links;
}

/** A model with some of the former names. */
interface FormerModel {
  readonly names: FormerNames;
  readonly model: EntityModel;
}

/** The former models that the database may still match; empty if nothing was renamed. */
export function formerModels(model: EntityModel): readonly FormerModel[] {
  const named = model.entities.flatMap((entity) => [entity, ...Object.values(entity.relations)]);
  if (named.every(({ renamedFrom }) => renamedFrom === undefined)) return [];
  return FORMER.map((names) => ({ names, model: formerModel(model, names) }));
}

/** The tables of the same relation in a former model. */
function linksIn({ names, model }: FormerModel, { source, name }: ResolvedRelation): LinkTable[] {
  const entity = model.get((names.entities ? source.renamedFrom : undefined) ?? source.name);
  const formerName = (names.relations ? source.relations[name]?.renamedFrom : undefined) ?? name;
  const relation = entity && model.relation(entity, formerName);
  return relation === undefined ? [] : [linkTable(relation), ...outgrownLinks(model, relation)];
}

/** The column of a relation's own end in the database, whose tables may still have their former names. */
export function ownColumnIn(catalog: Catalog, relation: ResolvedRelation): string {
  const { source, target } = relation;
  const current = ({ name, renamedFrom }: AnyEntity): string =>
    renamedFrom !== undefined && catalog.has(renamedFrom) && !catalog.has(name) ? renamedFrom : name;
  if (source === target) return linkTable(relation).own;
  return current(source) < current(target) ? "A" : "B";
}

/**
 * The tables that `.renamedFrom()` names without the underscore: named after a removed side, or with Prisma's default
 * name.
 */
function namedLinks(catalog: Catalog, relation: ResolvedRelation): FormerLink[] {
  const { source, target, name, inverse = "" } = relation;
  // A table named after the other side has that side in its first column if both sides belong to the same entity.
  const own = source === target ? "B" : ownColumnIn(catalog, relation);
  return [source.relations[name]?.renamedFrom, target.relations[inverse]?.renamedFrom].flatMap((from) =>
    from === undefined ? [] : [{ table: linkTableName(from), own, asked: true }],
  );
}

/** All former tables that may hold the pairs of a relation. */
export function formerLinks(
  { model, former, catalog }: { model: EntityModel; former: readonly FormerModel[]; catalog: Catalog },
  relation: ResolvedRelation,
): readonly FormerLink[] {
  const known = outgrownLinks(model, relation).map((link) => ({ ...link, asked: false }));
  const asked = former
    .flatMap((before) => linksIn(before, relation))
    .filter((link) => known.every(({ table }) => table !== link.table))
    .map((link) => ({ ...link, asked: true }));
  return [...asked, ...namedLinks(catalog, relation), ...known];
}

/** Makes a model with the names before `.renamedFrom()`, to compute the names of link tables. */
function formerModel(model: EntityModel, former: FormerNames): EntityModel {
  const nameOf = ({ name, renamedFrom }: Pick<AnyEntity, "name" | "renamedFrom">): string =>
    (former.entities ? renamedFrom : undefined) ?? name;
  const relationName = (name: string, { renamedFrom }: RelationDefinition): string =>
    (former.relations ? renamedFrom : undefined) ?? name;

  function formerRelation(entity: AnyEntity, name: string, relation: RelationDefinition): RelationDefinition {
    const target = model.relation(entity, name)?.target as AnyEntity;
    const { inverse } = relation;
    const other = inverse === undefined ? undefined : target.relations[inverse];
    return {
      ...relation,
      target: relation.target && (() => ({ name: nameOf(target) }) as unknown as EntityLike),
      ...(other === undefined ? {} : { inverse: relationName(inverse as string, other) }),
    };
  }

  return createModel(
    model.entities.map((entity) => {
      const local = Object.entries(entity.relations).filter(([, { remote }]) => remote === undefined);
      const relations = local.map(
        ([name, relation]) => [relationName(name, relation), formerRelation(entity, name, relation)] as const,
      );
      return { ...entity, name: nameOf(entity), relations: Object.fromEntries(relations) };
    }),
  );
}
