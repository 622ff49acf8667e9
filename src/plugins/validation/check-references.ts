import { isKeelsonError } from "../../entity/index.ts";
import { type Operation, ValidationFailedError } from "../../kernel/index.ts";
import type { InputPlan, Reference } from "./input-plan.ts";

/**
 * The references of a write that have to be looked up: those that are set, but not the caller's own id as owner. The
 * system's are left to the database (security.md item 6).
 */
export function referencesToCheck({ references }: InputPlan, { principal, data }: Operation): readonly Reference[] {
  if (references.length === 0 || principal.kind === "system") return [];
  return references.filter(({ column, isOwner }) => {
    const id = data[column];
    return typeof id === "string" && !(isOwner && id === principal.user?.id);
  });
}

/**
 * Checks that referenced records exist for this caller: one that is hidden answers exactly like one that is missing.
 * @throws ValidationFailedError
 */
export async function checkReferences(references: readonly Reference[], operation: Operation): Promise<void> {
  const found = await Promise.all(references.map((reference) => isVisible(reference, operation)));
  const missing = references.filter((_, index) => !found[index]);
  if (missing.length === 0) return;
  throw new ValidationFailedError(
    missing.map(({ column }) => ({ path: [column], code: "invalid_reference", message: "does not exist" })),
  );
}

async function isVisible({ column, target }: Reference, { scope, data }: Operation): Promise<boolean> {
  try {
    const query = { where: { id: data[column] }, select: ["id"], limit: 1 };
    return (await scope.run({ kind: "list", entity: target, query })).records.length > 0;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403)) return false;
    throw error;
  }
}
