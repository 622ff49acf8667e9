import type { ResolvedRelation } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import type { QueryTable } from "./query-table.ts";
import { seesRelation } from "./shape.ts";

/** The relations of an entity that give a caller records when they are included. */
export async function includable(
  table: QueryTable | undefined,
  scope: OperationScope,
): Promise<readonly ResolvedRelation[]> {
  const seen = [...(table?.relations.values() ?? [])].filter((relation) => seesRelation(scope, relation));
  // Who may read what other services have is theirs to say.
  const allowed = await Promise.all(
    seen.map(async ({ remote, target }) => remote !== undefined || (await scope.readDecision(target)).allowed),
  );
  return seen.filter((_, index) => allowed[index]);
}
