import type { EntityModel } from "../entity/index.ts";
import { routeSegment } from "../kernel/index.ts";

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
