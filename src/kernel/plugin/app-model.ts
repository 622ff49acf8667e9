import { ConfigurationError, createModel, type EntityLike, type EntityModel } from "../../entity/index.ts";
import { routeSegment } from "../routes/plural.ts";

/** Builds all entities; problems of several definitions are gathered, not thrown one by one. */
export function buildAppModel(entities: readonly EntityLike[], problems: string[]): EntityModel {
  const built: EntityLike[] = [];
  for (const entity of entities) {
    try {
      built.push("build" in entity ? entity.build() : entity);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
    }
  }
  const model = createModel(built);
  problems.push(...model.problems);
  return model;
}

/** Entities whose routes would be the same. */
export function collidingSegments(model: EntityModel): string[] {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const entity of model.entities) {
    if (entity.internal) continue;
    const segment = routeSegment(entity);
    const owner = owners.get(segment);
    if (owner !== undefined)
      problems.push(
        `entities "${owner}" and "${entity.name}" share the path /${segment}; give one of them .plural("…")`,
      );
    owners.set(segment, entity.name);
  }
  return problems;
}
