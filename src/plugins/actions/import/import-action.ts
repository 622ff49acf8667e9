import type { AnyEntity, JsonSchema } from "../../../entity/index.ts";
import { ignoredHeader, type OperationScope, type RouteDescription } from "../../../gate/index.ts";
import {
  AuthorizationError,
  BadRequestError,
  didYouMean,
  Reply,
  shownName,
  unknownKeys,
} from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import type { ActionContext } from "../action/action-definition.ts";
import { type GivenRow, givenRow } from "./given-row.ts";
import { type ImportResult, ImportTally, importRows } from "./import-rows.ts";
import { readRows } from "./read-rows.ts";
import { isSameKey, type UniqueKey, uniqueKeysOf } from "./unique-values.ts";

/** Options of `importAction`. */
export interface ImportOptions {
  /**
   * A unique field, or the fields of a `.unique([…])`. A row changes the record that has the same values in these
   * fields. @default none: all rows are new
   */
  readonly upsertBy?: string | readonly string[] | undefined;
  /** Checks everything and stores nothing. `?dryRun=true` does so for one request. @default false */
  readonly dryRun?: boolean | undefined;
  /** The most rows of one transaction. @default 500 */
  readonly batch?: number | undefined;
  /** Milliseconds that an import may take. @default 600000 */
  readonly timeout?: number | undefined;
}

const OPTIONS: Readonly<Record<keyof ImportOptions, true>> = {
  upsertBy: true,
  dryRun: true,
  batch: true,
  timeout: true,
};

/** Records in the process: an array, or any other iterable. */
export type ImportedRows = Iterable<object> | AsyncIterable<object>;

/**
 * `POST /import` creates a record from each row of a CSV file, a JSON array or lines of JSON, by the rules of create,
 * and continues after rows that are refused. Rows are stored in batches of one transaction each; an interrupted import
 * leaves only complete batches.
 */
export function importAction(
  options: ImportOptions = {},
): ActionBuilder<PlainShape<ImportResult, false, ImportedRows>> {
  const { upsertBy, dryRun = false, batch = 500, timeout = 600_000 } = options;
  const key: UniqueKey | undefined = typeof upsertBy === "string" ? [upsertBy] : upsertBy;
  return new ActionBuilder({
    method: "POST",
    path: "/import",
    description: "Imports records",
    access: "create",
    authorizes: "operations",
    readsBody: "raw",
    timeout,
    describe: ({ record }, { entity }) => describeImport(record(entity, "create")),
    check(entity) {
      const [unknown] = unknownKeys(options, Object.keys(OPTIONS));
      if (unknown !== undefined) return unknown;
      if (!Number.isSafeInteger(batch) || batch < 1) return "batch must be a whole number, 1 or more";
      return key && upsertProblem(entity, key);
    },
    handler: (context) => run(context, () => readRows(context, key ?? [])),
    call: (context) => run(context, () => rowsOfInput(context.input)),
  });

  async function run(context: ActionContext, read: () => Parameters<typeof importRows>[2]): Promise<Reply> {
    const { scope, entity, rules } = context;
    const isDry = asksForDryRun(context) || dryRun;
    await scope.access.maskReady(entity);
    if (key !== undefined) refuseHidden(scope, entity, key);
    const rows = read();
    const tally = new ImportTally();
    const unique = uniqueKeysOf(scope.app.model, entity);
    const takenBack = new Set<string>();
    const byKey = key && unique.keys.find((fields) => isSameKey(fields, key));
    const job = { scope, entity, rules, batch, upsertBy: byKey, dryRun: isDry, unique, takenBack };
    await importRows(job, tally, rows);
    return new Reply(200, tally.result(), ignoredHeader(tally.ignored));
  }
}

/** @throws BadRequestError for other parameters and other values */
function asksForDryRun({ query }: ActionContext): boolean {
  for (const [name, value] of Object.entries(query)) {
    if (name === "_") continue; // a cache buster
    if (name !== "dryRun")
      throw new BadRequestError(`"${shownName(name)}" is not known here.${didYouMean(name, ["dryRun"])}`);
    if (value !== "true" && value !== "false") throw new BadRequestError('"dryRun" must be true or false');
  }
  return query.dryRun === "true";
}

/**
 * Whether a row changes a record reveals that a record has its values, so the caller must be able to filter by or write
 * the key.
 */
function refuseHidden(scope: OperationScope, entity: AnyEntity, key: UniqueKey): void {
  if (scope.principal.kind === "system") return;
  const { filterable, writable } = scope.access.mask(entity);
  if (!key.every((name) => filterable.has(name) || writable.has(name))) throw new AuthorizationError();
}

/** The reason why fields do not identify records, as the end of a sentence; undefined when they do. */
function upsertProblem(entity: AnyEntity, key: UniqueKey): string | undefined {
  const names = Object.keys(entity.columns);
  const unknown = key.find((name) => !Object.hasOwn(entity.columns, name));
  if (unknown !== undefined) return `upsertBy names "${unknown}", which is not a field.${didYouMean(unknown, names)}`;
  const hidden = key.find((name) => entity.hidden.includes(name));
  if (hidden !== undefined) return `upsertBy names "${hidden}", which no caller may read`;
  if (isUnique(entity, key)) return undefined;
  return `upsertBy needs a unique field, or the fields of a .unique([…]), and ${key.map((name) => `"${name}"`).join(", ")} is neither`;
}

function isUnique({ columns, uniques }: AnyEntity, key: UniqueKey): boolean {
  const [name] = key;
  if (key.length === 1 && Object.values(columns).some((column) => column.unique && (column.of ?? column.name) === name))
    return true;
  return uniques.some((fields) => isSameKey(fields, key));
}

/**
 * Rows of an import in the process.
 * @throws BadRequestError for values that are not iterable
 */
async function* rowsOfInput(input: unknown): AsyncGenerator<GivenRow> {
  if (!isList(input)) throw new BadRequestError("An import takes an array of records");
  for await (const row of input) yield givenRow(row, 0);
}

function isList(input: unknown): input is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof input === "object" && input !== null && (Symbol.iterator in input || Symbol.asyncIterator in input);
}

const COUNT: JsonSchema = Object.freeze({ type: "integer", minimum: 0 });
const FAILED: JsonSchema = Object.freeze({
  type: "object",
  required: ["row", "errors"],
  properties: {
    row: { type: "integer", minimum: 1 },
    errors: { type: "object", additionalProperties: { type: "string" } },
  },
});
const RESULT: JsonSchema = Object.freeze({
  type: "object",
  required: ["created", "updated", "failed"],
  properties: { created: COUNT, updated: COUNT, failed: { type: "array", items: FAILED }, failedCount: COUNT },
});

function describeImport(row: JsonSchema): RouteDescription {
  return {
    parameters: [
      { name: "dryRun", schema: { type: "boolean" }, description: "Whether all is checked and nothing is stored." },
    ],
    body: {
      required: true,
      content: {
        "text/csv": { type: "string" },
        "application/json": { type: "array", items: row },
        "application/x-ndjson": { type: "string" },
      },
    },
    answers: {
      200: {
        description: "What became of the rows.",
        content: { "application/json": RESULT },
        headers: { "X-Ignored-Fields": "Fields that were sent, and that the caller may not write." },
      },
    },
    errors: [403, 409],
  };
}
