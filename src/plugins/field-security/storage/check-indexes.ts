import { type AnyEntity, ConfigurationError } from "../../../entity/index.ts";
import type { Driver, Row } from "../../../gate/index.ts";
import { DatabaseError, DatabaseUnavailableError, DecryptionError } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import { decrypt } from "../encryption/cipher.ts";
import type { EncryptedColumn, EncryptionPlan } from "./encryption-plan.ts";
import { suits } from "./suits.ts";

/** Records to look at: one that somebody has tampered with must not keep the app from starting. */
const SAMPLE = 5;

/**
 * Compares a few stored blind indexes with those that the app would make. With another index key searches would find
 * nothing, and unique fields would take the same value twice, without a word.
 * @param driver the base driver, connected
 * @throws ConfigurationError, DatabaseUnavailableError
 */
export async function checkIndexes(driver: Driver, plan: EncryptionPlan): Promise<void> {
  const problems: string[] = [];
  for (const entity of plan.model.entities)
    for (const column of plan.columnsOf(entity) ?? []) {
      if (column.index === undefined) continue;
      const rows = await sample(driver, entity, column.name, column.index);
      const verdicts = rows.flatMap((row) => agrees(plan, entity, column, row) ?? []);
      if (verdicts.length > 0 && !verdicts.includes(true)) problems.push(problemOf(entity, column));
    }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function problemOf(entity: AnyEntity, { name }: EncryptedColumn): string {
  return (
    `${entity.name}.${name}: the blind indexes that are stored were made with another key; pass encryption: ` +
    "{ …, indexKey } with the key that was there first, or, if that is lost, run rotateEncryptionKeys({ …, reindex: true })"
  );
}

async function sample(driver: Driver, entity: AnyEntity, name: string, index: string): Promise<Row[]> {
  try {
    const where = { [name]: { null: false }, [index]: { null: false } };
    return await driver.findMany(entity, { where, select: ["id", name, index], limit: SAMPLE });
  } catch (error) {
    // A table that is not there yet is for whoever uses it to notice.
    if (error instanceof DatabaseError && !(error instanceof DatabaseUnavailableError)) return [];
    throw error;
  }
}

/** Undefined where the value itself cannot be decrypted. */
function agrees({ ring }: EncryptionPlan, entity: AnyEntity, column: EncryptedColumn, row: Row): boolean | undefined {
  const { name, index } = column;
  const place = { entity: entity.name, field: name, id: row.id as string };
  try {
    const value = decrypt(ring, row[name], place);
    return suits(column, value) ? blindIndex(ring, place, value as string) === row[index as string] : undefined;
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
