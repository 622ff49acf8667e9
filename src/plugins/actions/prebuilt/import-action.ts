import type { AnyEntity } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import { AuthorizationError, BadRequestError, didYouMean, Reply, shownName } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import type { ActionContext } from "../action/action-context.ts";
import { describeImport } from "../import/describe-import.ts";
import { isSameKey, type UniqueKey, uniqueKeysOf } from "../import/import-keys.ts";
import { importRows } from "../import/import-rows.ts";
import { type ImportResult, ImportTally } from "../import/import-tally.ts";
import { readRows } from "../import/read-rows.ts";
import { rowsOfInput } from "../import/rows-of-input.ts";
import { upsertProblem } from "../import/upsert-problem.ts";

/** Options of `importAction`. */
export interface ImportOptions {
  /** A unique field, or the fields of a `.unique([…])`: a row whose values a record has changes that record. @default none: all rows are new */
  readonly upsertBy?: string | readonly string[] | undefined;
  /** Checks everything and stores nothing. `?dryRun=true` does so for one request. @default false */
  readonly dryRun?: boolean | undefined;
  /** Rows of one transaction at most. @default 500 */
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

/** Records in the process: an array, or what gives one after the other. */
export type ImportedRows = Iterable<object> | AsyncIterable<object>;

/**
 * `POST /import` makes a record of each row of a CSV file, a JSON array or lines of JSON, by the rules of create, and
 * goes on after rows that are refused. Rows are stored in batches of one transaction each; an import that is
 * interrupted leaves whole batches.
 */
export function importAction(
  options: ImportOptions = {},
): ActionBuilder<PlainShape<ImportResult, false, ImportedRows>> {
  const { upsertBy, dryRun = false, batch = 500, timeout = 600_000 } = options;
  const key: UniqueKey | undefined = typeof upsertBy === "string" ? [upsertBy] : upsertBy;
  return new ActionBuilder<PlainShape<ImportResult, false, ImportedRows>>({
    method: "POST",
    path: "/import",
    description: "Imports records",
    access: "create",
    authorizes: "operations",
    readsBody: "raw",
    timeout,
    describe: ({ record }, { entity }) => describeImport(record(entity, "create")),
    check(entity) {
      const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
      if (unknown !== undefined) return `there is no option "${unknown}".${didYouMean(unknown, Object.keys(OPTIONS))}`;
      if (!Number.isSafeInteger(batch) || batch < 1) return "batch must be a whole number, 1 or more";
      return key && upsertProblem(entity, key);
    },
    handler: (context) => run(context, () => readRows({ ...bodyOf(context), needed: key ?? [] })),
    call: (context) => run(context, () => rowsOfInput(context.input)),
  });

  async function run(context: ActionContext, read: () => Parameters<typeof importRows>[1]): Promise<Reply> {
    const { scope, entity, rules } = context;
    const isDry = asksForDryRun(context) || dryRun;
    await scope.maskReady(entity);
    if (key !== undefined) refuseHidden(scope, entity, key);
    const rows = read();
    const tally = new ImportTally();
    const unique = uniqueKeysOf(scope.model, entity);
    const takenBack = new Set<string>();
    const byKey = key && unique.keys.find((fields) => isSameKey(fields, key));
    await importRows({ scope, entity, rules, batch, upsertBy: byKey, dryRun: isDry, unique, tally, takenBack }, rows);
    const ignored = [...tally.ignored].join(", ");
    return new Reply(200, tally.result(), ignored === "" ? {} : { "x-ignored-fields": ignored });
  }
}

function bodyOf({ scope, entity, body, contentType, headers }: ActionContext) {
  return { scope, entity, body, contentType, headers };
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

/** Whether a row changes a record tells that the record has its values: for those only who may know, or write, them. */
function refuseHidden(scope: OperationScope, entity: AnyEntity, key: UniqueKey): void {
  if (scope.principal.kind === "system") return;
  const { filterable, writable } = scope.mask(entity);
  if (!key.every((name) => filterable.has(name) || writable.has(name))) throw new AuthorizationError();
}
