import type { ColumnDefinition } from "../../../entity/index.ts";
import type { OperationQuery, QueryParser, Row } from "../../../gate/index.ts";
import { Reply } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import type { ActionContext } from "../action/action-context.ts";
import { createBatchReader } from "../export/create-batch-reader.ts";
import { describeExport, FORMAT } from "../export/describe-export.ts";
import { type ExportOptions, exportCall } from "../export/export-call.ts";
import { readFormat } from "../export/read-format.ts";
import { FIRST_BATCH, writeBatches } from "../export/write-batches.ts";

/**
 * `GET /export` writes all records that the caller may read, with the filters and orders of the list and `select`, as
 * JSON, as CSV (`format=csv`) or as lines of JSON (`format=ndjson`), without holding them in memory (spec 4.2).
 * It is no snapshot: what others change meanwhile may be in it or not. In the process it gives the records as one array.
 */
export function exportAction(): ActionBuilder<PlainShape<readonly Row[], false, ExportOptions>> {
  return new ActionBuilder<PlainShape<readonly Row[], false, ExportOptions>>({
    method: "GET",
    path: "/export",
    description: "Exports records",
    authorizes: "operations",
    needs: ["crud.query"],
    async describe({ scope, record }, { entity, resolve }) {
      const parser = resolve<QueryParser>("crud.query");
      const parameters = await parser.describe(["filter", "sort", "select"], entity, scope);
      const rows = { anyOf: [record(entity, "record"), record(entity, "selection")] };
      return { parameters: [...parameters, FORMAT], answers: { 200: describeExport(rows) } };
    },
    handler: streamExport,
    call: exportCall,
  });
}

/** The first batch is read before the answer begins, so that what is refused, or fails at once, has its status. */
async function streamExport({ scope, entity, rules, search, resolve }: ActionContext): Promise<Reply> {
  const format = readFormat(search, scope.limits);
  const parse = resolve<QueryParser>("crud.query").reads(["filter", "sort", "select"], ["format"]);
  let selected: OperationQuery["select"];
  const read = createBatchReader(scope, {
    entity,
    rules,
    bounded: true,
    async query() {
      const query = await parse(search, entity, scope);
      selected = query.select;
      return query;
    },
  });
  const first = await read(FIRST_BATCH);
  const { readable } = scope.mask(entity);
  const isShown = ({ name }: ColumnDefinition): boolean =>
    readable.has(name) && (selected === undefined || name === "id" || selected.includes(name));
  const columns = Object.values(entity.columns).filter(isShown);
  return new Reply(200, writeBatches({ scope, format, columns, first, read }), format.headers(entity));
}
