import {
  type AnyEntity,
  type ColumnDefinition,
  datetimeKind,
  isObject,
  type JsonSchema,
} from "../../../entity/index.ts";
import {
  type AnswerDescription,
  type OperationQuery,
  type ParameterDescription,
  QueryParser,
  type Row,
  type SortKey,
  type Where,
} from "../../../gate/index.ts";
import { BadRequestError, Reply } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import type { ActionContext } from "../action/action-definition.ts";
import { createBatchReader, FIRST_BATCH, MOST_RECORDS, writeBatches } from "./export-batches.ts";
import { type ExportFormat, FORMATS, readFormat } from "./export-formats.ts";

/**
 * `GET /export` writes all records that the caller may read as JSON, CSV (`format=csv`) or lines of JSON
 * (`format=ndjson`), without holding them in memory. It takes the list's filters and sort keys, and `select` (spec
 * 4.2). The export is not a snapshot: it may or may not contain concurrent changes. In the process it returns the
 * records as one array.
 */
export function exportAction(): ActionBuilder<PlainShape<readonly Row[], false, ExportOptions>> {
  return new ActionBuilder({
    method: "GET",
    path: "/export",
    description: "Exports records",
    authorizes: "operations",
    needs: ["query"],
    async describe({ scope, record }, { entity, resolve }) {
      const parser = resolve(QueryParser);
      const parameters = await parser.describe(["filter", "sort", "select"], entity, scope, record);
      return { parameters: [...parameters, FORMAT], answers: { 200: describeExport(record(entity, "record")) } };
    },
    handler: streamExport,
    call: exportCall,
  });
}

/** The first batch is read before the response begins, so that a refusal or an early failure has its own status. */
async function streamExport({ scope, entity, rules, search, resolve }: ActionContext): Promise<Reply> {
  const format = readFormat(search, scope.app.limits);
  const parse = resolve(QueryParser).reads(["filter", "sort", "select"], ["format"]);
  let selected: OperationQuery["select"];
  const read = createBatchReader(scope, {
    entity,
    rules,
    bounded: true,
    async query() {
      const query = await parse(search, entity, scope);
      selected = query.select;
      return { ...query, textMoments: mayBeTexts(entity, format, query) };
    },
  });
  const first = await read(FIRST_BATCH);
  const { readable } = scope.access.mask(entity);
  const isShown = ({ name }: ColumnDefinition): boolean =>
    readable.has(name) && (selected === undefined || name === "id" || selected.includes(name));
  const columns = Object.values(entity.columns).filter(isShown);
  return new Reply(200, writeBatches({ scope, format, columns, first, read }), format.headers(entity));
}

/** Whether datetimes may stay texts: sort keys are compared as `Date`s, and the `toText` of a kind in CSV takes them. */
function mayBeTexts({ columns }: AnyEntity, { wire }: ExportFormat, { sort = [] }: OperationQuery): boolean {
  const moments = Object.values(columns).filter(({ kind }) => kind.column.scalar === "DateTime");
  return moments.every(
    ({ name, kind }) => (wire || kind.toCell === datetimeKind.toCell) && sort.every(({ field }) => field !== name),
  );
}

/** Options of an export in the process, named as in a list. */
interface ExportOptions {
  readonly where?: Where | undefined;
  /** `["-createdAt", "title"]` @default by id */
  readonly sort?: readonly string[] | undefined;
  /** `id` is always included. @default all fields */
  readonly select?: readonly string[] | undefined;
  /** Includes soft-deleted records, or returns only these. @default they are left out */
  readonly deleted?: "with" | "only" | undefined;
}

const OPTIONS: ReadonlySet<string> = new Set(["where", "sort", "select", "deleted"]);

/**
 * An export in the process returns all records in one array, however many there are. Use `list` with `after` to read
 * them in portions.
 */
async function exportCall({ scope, entity, rules, input }: ActionContext): Promise<readonly Row[]> {
  const read = createBatchReader(scope, { entity, rules, query: () => readOptions(input) });
  const all: Row[] = [];
  for (;;) {
    const { records, isLast } = await read(MOST_RECORDS);
    all.push(...records);
    if (isLast) return all;
  }
}

/** @throws BadRequestError for unknown options and invalid values */
function readOptions(given: unknown): OperationQuery {
  if (given === undefined) return {};
  if (!isObject(given)) throw new BadRequestError("An export in the process takes an object of options");
  const unknown = Object.keys(given).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined)
    throw new BadRequestError(`An export in the process takes ${[...OPTIONS].join(", ")}, and no "${unknown}"`);
  const { where, deleted } = given;
  if (where !== undefined && !isObject(where)) throw new BadRequestError('"where" must be an object of conditions');
  if (deleted !== undefined && deleted !== "with" && deleted !== "only")
    throw new BadRequestError('"deleted" takes the values with and only.');
  return { where, deleted, sort: names("sort", given)?.map(sortKey), select: names("select", given) };
}

function names(option: "sort" | "select", given: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const list = given[option];
  if (list !== undefined && !(Array.isArray(list) && list.every((name) => typeof name === "string")))
    throw new BadRequestError(`"${option}" must be a list of names`);
  return list as readonly string[] | undefined;
}

function sortKey(text: string): SortKey {
  return text.startsWith("-") ? { field: text.slice(1), direction: "desc" } : { field: text, direction: "asc" };
}

const FORMAT: ParameterDescription = Object.freeze({
  name: "format",
  schema: { type: "string", enum: [...FORMATS.keys()], default: "json" },
  description: "How the records are written.",
});

function describeExport(row: JsonSchema): AnswerDescription {
  return {
    description: "All records, in the format that was asked for.",
    content: {
      "application/json": { type: "array", items: row },
      "text/csv": { type: "string" },
      "application/x-ndjson": { type: "string" },
    },
    headers: { "Content-Disposition": "The name of a file to store it in, for CSV." },
  };
}
