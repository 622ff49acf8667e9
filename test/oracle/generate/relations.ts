/** Relations of every kind between the entities of a model. */
import type { Features } from "../features.ts";
import type { EntityModel, FieldModel, RelationModel } from "../model.ts";
import type { Random } from "../random.ts";

const upper = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** Entities under construction. */
export type Draft = { -readonly [K in keyof EntityModel]: EntityModel[K] } & {
  fields: FieldModel[];
  relations: RelationModel[];
};

export function relate(random: Random, features: Features, drafts: readonly Draft[]): void {
  const add = (from: Draft, relation: RelationModel, back: boolean): void => {
    from.relations.push(relation);
    const target = drafts.find(({ name }) => name === relation.target) as Draft;
    if (!back || relation.kind === "selfRef") return;
    const many = relation.name === relation.target ? `${from.name}s` : `${relation.name}${upper(from.name)}s`;
    if (relation.unique)
      target.relations.push({
        name: `own${upper(from.name)}`,
        kind: "hasOne",
        target: from.name,
        inverse: relation.name,
      });
    else target.relations.push({ name: many, kind: "hasMany", target: from.name, inverse: relation.name });
  };
  for (const [at, from] of drafts.entries()) {
    for (const to of drafts.slice(0, at)) {
      if (!random.chance(to.name === "user" ? 0.75 : 0.6)) continue;
      const optional = random.chance(0.45);
      add(
        from,
        {
          name: to.name,
          kind: "belongsTo",
          target: to.name,
          ...(optional && { optional: true }),
          ...(random.chance(0.1) && { unique: true }),
          ...(random.chance(0.3) && { onDelete: "cascade" }),
        },
        random.chance(0.85),
      );
    }
    if (random.chance(0.2)) {
      add(from, { name: "parent", kind: "selfRef", target: from.name, optional: true }, false);
      from.relations.push({ name: "children", kind: "hasMany", target: from.name, inverse: "parent" });
    }
  }
  for (const [at, from] of drafts.entries())
    for (const to of drafts.slice(at + 1)) {
      if (!random.chance(features.has("pairs") ? 0.4 : 0.2)) continue;
      const [here, there] = [`linked${upper(to.name)}s`, `linked${upper(from.name)}s`];
      const isBoth = features.has("pairs") && random.chance(0.6);
      if (isBoth) {
        from.relations.push({ name: here, kind: "manyToMany", target: to.name, inverse: there });
        to.relations.push({ name: there, kind: "manyToMany", target: from.name, inverse: here });
      } else if (random.chance(0.5)) from.relations.push({ name: here, kind: "manyToMany", target: to.name });
      else to.relations.push({ name: there, kind: "manyToMany", target: from.name });
    }
}
