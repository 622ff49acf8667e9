import type { AnyEntity } from "../../entity/index.ts";
import { type Driver, type IncludeTree, type Row, tagRecord } from "../../gate/index.ts";
import { chunksOf } from "./chunks-of.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import type { ServiceLookup } from "./stitch-context.ts";
import type { Viewer } from "./viewer.ts";

/** What an app's own records are found with, outside its rules. */
export type FindingDriver = Pick<Driver, "findMany">;

/**
 * A viewer without a caller: no rule is checked, and every column that records show is fetched. Records are still
 * tagged, so that a response made from them is masked for its caller.
 * @param stitchInner joins what is included in records of the app's own database
 */
export function openViewer(
  { driver, services }: { readonly driver: FindingDriver | undefined; readonly services: ServiceLookup },
  { batchSize }: JoinSettings,
  stitchInner: (entity: AnyEntity, records: readonly Row[], inner: IncludeTree) => Promise<void>,
): Viewer {
  return {
    async rightsOn(entity) {
      const columns = Object.keys(entity.columns).filter((name) => !entity.hidden.includes(name));
      return { columns, admit: (record) => tagRecord(entity, record) === record };
    },
    sees: () => true,
    // Whose the entities are is not known here: what is not said to be remote is left to the service.
    joins: ({ remote }) => remote !== undefined && (remote.service === undefined || services.has(remote.service)),
    async list(entity, ids, inner) {
      const rows: Row[] = [];
      for (const batch of chunksOf(ids, batchSize))
        rows.push(...((await driver?.findMany(entity, { where: { id: { in: batch } } })) ?? []));
      for (const row of rows) tagRecord(entity, row);
      await stitchInner(entity, rows, inner);
      return rows;
    },
  };
}
