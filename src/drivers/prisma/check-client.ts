import { ConfigurationError, type EntityModel } from "../../entity/index.ts";
import { modelApi, type StatementClient } from "./client-shape.ts";
import { compilePlans } from "./entity-plan.ts";

/**
 * Compares a client's models with the entities.
 * @throws ConfigurationError naming every model and column that the client does not have
 */
export function checkClient(client: StatementClient, model: EntityModel): void {
  const problems: string[] = [];
  for (const { entity, delegate } of compilePlans(model).values()) {
    const fields = modelApi(client, delegate)?.fields;
    if (fields === undefined) {
      problems.push(`the Prisma client has no model "${entity.name}"`);
      continue;
    }
    const known = new Set(Object.keys(fields)); // a proxy that says yes to any name it is asked for
    for (const name of Object.keys(entity.columns))
      if (!known.has(name)) problems.push(`model ${entity.name} of the Prisma client has no field "${name}"`);
  }
  if (problems.length === 0) return;
  throw new ConfigurationError([
    ...problems,
    "toPrismaSchema(entities, { provider }) prints a schema that fits; run `prisma generate` after changing yours",
  ]);
}
