import { pascalCase } from "keelson";
import { EntityNotFoundError, type QueryParser, type RouteInput, routeSegment } from "keelson/plugin";
import type { SlugPlan } from "./slug-plan.ts";

/** `GET /posts/by-slug/:slug`: a list of at most one record, so that the rules and masks of reading apply. */
export function bySlugRoute({ entity, field }: SlugPlan, parser: QueryParser): RouteInput {
  const parse = parser.reads(["shape"]);
  return {
    method: "GET",
    path: `/${routeSegment(entity)}/by-slug/:slug`,
    entity,
    action: "bySlug",
    access: "read",
    async describe({ scope, record }) {
      const schema = { anyOf: [record(entity, "record"), record(entity, "selection")] };
      return {
        operationId: `read${pascalCase(entity.name)}BySlug`,
        summary: `Read ${entity.name} by its slug`,
        parameters: await parser.describe(["shape"], entity, scope),
        answers: { 200: { description: "The record.", content: { "application/json": schema } } },
        errors: [404],
      };
    },
    async handler({ scope, params, search }) {
      const { records } = await scope.run({
        kind: "list",
        entity,
        async query() {
          // Finding a record by a field reveals the field's value.
          if (!scope.access.mask(entity).filterable.has(field)) throw new EntityNotFoundError();
          return { ...(await parse(search, entity, scope)), where: { [field]: params.slug }, limit: 1 };
        },
      });
      const [found] = records;
      if (found === undefined) throw new EntityNotFoundError();
      return found;
    },
  };
}
