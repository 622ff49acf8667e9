import { createHash } from "node:crypto";
import type { OperationScope } from "../../kernel/index.ts";

/** What an answer showed depends on: entities by name, and a digest of what the caller may see of them. */
export interface Rights {
  readonly entities: readonly string[];
  readonly digest: string;
}

/** What a caller may see of some entities: of which of them all records, some or none, and which fields. */
export async function rightsOf(scope: OperationScope, entities: readonly string[]): Promise<Rights> {
  const names = [...new Set(entities)].sort();
  const told: unknown[] = [];
  for (const name of names) {
    const { allowed, forSome } = await scope.readDecision(name);
    const { readable, readablePerRow } = scope.mask(name);
    told.push(name, allowed, forSome, [...readable].sort(), [...(readablePerRow?.keys() ?? [])].sort());
  }
  return { entities: names, digest: createHash("sha256").update(JSON.stringify(told)).digest("base64url") };
}
