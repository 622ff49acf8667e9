// search: stores the words of `.searchable()` fields next to them, so that `q=` finds and ranks records by their words
// on any database.
import { type AnyEntity, type ColumnDefinition, storedWords, withWords } from "../../entity/index.ts";
import {
  and,
  ByteBudget,
  compare,
  createPlugin,
  type Driver,
  isSearchable,
  not,
  type OperationKind,
  type Plugin,
  type PluginContext,
  withMiddleware,
} from "../../gate/index.ts";
import { describeError } from "../../kernel/index.ts";
import { addHighlights } from "./highlights.ts";

// Hooks: operation:join (highlights). No options, no services.

/** Stores the words of searchable fields, also for existing records when a field becomes searchable. */
export function search(): Plugin {
  return createPlugin<{ isClosing: boolean; filling?: Promise<void> | undefined }>({
    id: "search",
    version: "1.0.0",
    after: ["schema"], // creates the columns
    setup({ hooks }) {
      const appliesTo = (entity: AnyEntity, kind: OperationKind): boolean => kind === "list" && isSearchable(entity);
      hooks.on("operation:join", addHighlights, { appliesTo });
      return { isClosing: false };
    },
    wrapDriver: (driver, { entities }) => (entities.entities.some(isSearchable) ? keepingWords(driver) : driver),
    async start(context, state) {
      const left: WordsOf[] = [];
      for (const one of allWords(context)) if (!(await fill(context, one))) left.push(one);
      state.filling = fillAll(context, left, () => state.isClosing);
    },
    async closing(_context, state) {
      state.isClosing = true;
      await state.filling;
    },
  });
}

function keepingWords(driver: Driver): Driver {
  return withMiddleware(driver, (statement, next) => {
    if (statement.kind === "insert")
      return next({ ...statement, rows: statement.rows.map((row) => withWords(statement.entity, row)) });
    if (statement.kind === "update") return next({ ...statement, data: withWords(statement.entity, statement.data) });
    return next(statement);
  });
}

function wordsColumns({ columns }: AnyEntity): readonly ColumnDefinition[] {
  return Object.values(columns).filter(({ role }) => role === "words");
}

/** A column of words with its entity. */
interface WordsOf {
  readonly entity: AnyEntity;
  readonly column: ColumnDefinition;
}

function allWords({ entities }: PluginContext): WordsOf[] {
  return entities.entities.flatMap((entity) => wordsColumns(entity).map((column) => ({ entity, column })));
}

/** Fills in the remaining words while the app serves requests. */
async function fillAll(context: PluginContext, left: readonly WordsOf[], isClosing: () => boolean): Promise<void> {
  for (const one of left) {
    const field = `${one.entity.name}.${one.column.of}`;
    try {
      while (!isClosing()) if (await fill(context, one)) break;
      if (!isClosing()) context.log.info("All records can be found by their words now", { field });
    } catch (error) {
      const sentence = "The words of records could not be stored; they are not found until the app starts again";
      context.log.error(sentence, { field, ...describeError(error) });
    }
  }
}

/** Limits of the records that are filled in together: their number and their bytes. */
const PORTION = 500;
const PORTION_BYTES = 8_388_608;

/** Stores the words of some records that have none. @returns whether these were the last ones */
async function fill({ driver }: PluginContext, { entity, column }: WordsOf): Promise<boolean> {
  const source = entity.columns[column.of as string] as ColumnDefinition;
  const id = entity.columns.id as ColumnDefinition;
  const isEmpty = compare(column, "eq", null);
  const where = and([isEmpty, not(compare(source, "eq", null))]);
  const bytes = new ByteBudget(PORTION_BYTES);
  const rows = await driver.execute({
    kind: "find",
    entity,
    where,
    sort: [{ field: "id", direction: "asc" }],
    select: ["id", source.name],
    limit: PORTION,
    bytes,
  });
  for (const row of rows) {
    // A concurrent change stores its own words.
    const same = and([compare(id, "eq", row.id), isEmpty]);
    await driver.execute({
      kind: "update",
      entity,
      where: same,
      data: { [column.name]: storedWords(row[source.name], source) },
    });
  }
  return rows.length < PORTION && !bytes.isCut;
}
