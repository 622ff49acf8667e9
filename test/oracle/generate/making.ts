/** The context for generating steps: callers, the current world, and ids of its records. */
import { ofOtherTenant } from "../companions.ts";
import { rowsOf, type World } from "../evaluate/world.ts";
import type { Features } from "../features.ts";
import type { EntityModel, Model, Principal } from "../model.ts";
import type { Random } from "../random.ts";

const PRINCIPALS: readonly Principal[] = [
  null,
  { id: "u1", team: "red" },
  { id: "u2", team: "blue" },
  { id: "u3", team: "red" },
  { id: "u4", team: "green", role: "admin" },
  { id: "u9", team: "amber" },
];

/** Callers of an app; an app with tenants refuses callers without one. */
export const principalsOf = (features: Features): readonly Principal[] =>
  features.has("tenancy") ? PRINCIPALS.filter((one) => one !== null) : PRINCIPALS;

export interface Making {
  readonly random: Random;
  readonly features: Features;
  readonly model: Model;
  readonly world: World;
  readonly entity: EntityModel;
  readonly by: Principal;
}

export const idsOf = (world: World, name: string): string[] => rowsOf(world, name).map(({ id }) => id as string);
export const someId = ({ random, features, world }: Making, name: string): string => {
  const ids = idsOf(world, name);
  if (ids.length === 0 || random.chance(0.04)) return "none";
  const id = random.pick(ids);
  return features.has("tenancy") && random.chance(0.1) ? ofOtherTenant(id) : id;
};
