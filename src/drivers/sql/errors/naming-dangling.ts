import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { ValidationFailedError } from "../../../kernel/index.ts";
import { danglingReference } from "./to-keelson-error.ts";

/** Rows that are written, and a way to look for those they refer to. */
export interface Written {
  readonly model: EntityModel;
  readonly entity: AnyEntity;
  readonly rows: readonly Row[];
  /** How many records with these ids there are. */
  count(target: AnyEntity, ids: readonly unknown[]): Promise<number>;
}

/** SQLite does not say which reference of a row led nowhere; looking for the records does. */
export async function namingDangling<T>(written: Written, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ValidationFailedError) || !("_" in error.errors)) throw error;
    throw danglingReference(await danglingKeys(written), error.cause);
  }
}

async function danglingKeys({ model, entity, rows, count }: Written): Promise<string[]> {
  const dangling: string[] = [];
  for (const { type, remote, target, foreignKey } of model.relationsOf(entity)) {
    if (type !== "belongsTo" || remote !== undefined) continue;
    const ids = [...new Set(rows.map((row) => row[foreignKey as string] ?? null))].filter((id) => id !== null);
    if (ids.length === 0) continue;
    if ((await count(target, ids)) < ids.length) dangling.push(foreignKey as string);
  }
  return dangling;
}
