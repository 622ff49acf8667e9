import type { AnyEntity } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";

/**
 * The stored record with changes in it, as validators see it. Omitted fields are taken over by name, because spreading
 * leaves them behind; stored passwords are not, because they are hashes, which no validator can mean.
 */
export function changedRecord(entity: AnyEntity, existing: Readonly<Row>, changes: Readonly<Row>): Row {
  const record: Row = { ...existing };
  for (const name of entity.hidden) if (existing[name] !== undefined) record[name] = existing[name];
  for (const [name, { password }] of Object.entries(entity.fields)) if (password) delete record[name];
  return Object.assign(record, changes);
}
