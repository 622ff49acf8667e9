import { type AnyEntity, type ColumnDefinition, isKeelsonError } from "../../entity/index.ts";
import {
  bareContent,
  checkDepth,
  type ErrorContent,
  type Presenter,
  presentPlain,
  tellable,
} from "../../kernel/index.ts";
import { compileWhere } from "../condition/compile-where.ts";
import type { Row } from "../condition/condition.ts";
import { matchesAlone, needsOnly } from "../condition/matches.ts";
import { HIGHLIGHTS, isSearchable } from "../condition/search.ts";
import type { FieldMask, RowAccess } from "../operation/mask.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { entityOfRecord, knownOf, noteShown } from "./tag-record.ts";

/**
 * Converts a value to plain JSON data and masks every record in it, at any depth, for the caller. `wire` converts
 * datetimes to ISO texts; without it they stay `Date`s, for in-process callers. A mask that is not final yet shows too
 * few fields; see `presentSettled`.
 * @throws InternalError for a value that is nested too deeply or circular
 */
export function present(value: unknown, scope: OperationScope, wire: boolean, depth = 0): unknown {
  return presentPlain(value, new RecordPresenter(scope, wire), depth);
}

/** Applies the field masks of records. */
class RecordPresenter implements Presenter {
  readonly wire: boolean;
  readonly #scope: OperationScope;

  constructor(scope: OperationScope, wire: boolean) {
    this.#scope = scope;
    this.wire = wire;
  }

  marked(value: object, depth: number): unknown {
    const entity = entityOfRecord(value);
    return entity && presentRecord(value as Row, entity, this.#scope, this, depth);
  }
}

function presentRecord(
  record: Row,
  entity: AnyEntity,
  scope: OperationScope,
  presenter: Presenter,
  depth: number,
): Row {
  const mask = scope.access.mask(entity);
  scope.state.shown?.note(entity, record);
  const { columns, relations } = shapeOf(entity, mask);
  const perRow = mask.readablePerRow;
  const plain: Row = {};
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    const access = perRow?.get(name);
    if (access !== undefined && !showsField(scope, entity, record, name, access)) continue;
    // A handler may have put a record into a JSON column.
    if (kind.toWire === undefined) plain[name] = presentPlain(value, presenter, depth + 1);
    else plain[name] = presenter.wire && value !== null ? kind.toWire(value) : value;
  }
  for (const name of relations) {
    const related = record[name];
    if (related !== undefined) plain[name] = presentPlain(related, presenter, depth + 1);
  }
  return plain;
}

/** Like `present`, but with final masks: repeats when a mask was not final. All values leave the gate through it. */
export async function presentSettled(value: unknown, scope: OperationScope, wire: boolean): Promise<unknown> {
  for (;;) {
    const plain = present(value, scope, wire);
    const pending = scope.access.maskReady();
    if (pending === undefined) return plain;
    await pending;
  }
}

/**
 * Serializes a value to JSON text and masks every record in it. Returns a promise only if a mask was not final yet.
 * @returns undefined for values that JSON cannot express (functions, undefined)
 */
export function toJson(value: unknown, scope: OperationScope): string | undefined | Promise<string | undefined> {
  const text = writeJson(value, scope, 0);
  return scope.access.maskReady()?.then(() => toJson(value, scope)) ?? text;
}

/**
 * Returns the same text as `JSON.stringify(present(value, scope, true))`. Records and lists of records are written
 * without intermediate objects, in a third of the time; other values are passed to `JSON.stringify`.
 */
function writeJson(value: unknown, scope: OperationScope, depth: number): string | undefined {
  if (typeof value !== "object" || value === null) return writePlain(value, scope, depth);
  checkDepth(depth);
  if (Array.isArray(value)) {
    let text = "";
    for (let i = 0; i < value.length; i++)
      text += `${i === 0 ? "" : ","}${writeJson(value[i], scope, depth + 1) ?? "null"}`;
    return `[${text}]`;
  }
  const entity = entityOfRecord(value);
  return entity === undefined ? writePlain(value, scope, depth) : writeRecord(value as Row, entity, scope, depth);
}

function writeRecord(record: Row, entity: AnyEntity, scope: OperationScope, depth: number): string {
  const mask = scope.access.mask(entity);
  scope.state.shown?.note(entity, record);
  const { columns, keys, furtherKeys, relations } = shapeOf(entity, mask);
  const perRow = mask.readablePerRow;
  // Appended piece by piece, to avoid intermediate strings.
  let text = "{";
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    const access = perRow?.get(name);
    if (access !== undefined && !showsField(scope, entity, record, name, access)) continue;
    const shown = kind.toWire === undefined || value === null ? value : kind.toWire(value);
    const isPlain = typeof shown === "string" && (kind.unescaped || !ESCAPED.test(shown));
    const written = isPlain ? shown : writePlain(shown, scope, depth + 1);
    if (written === undefined) continue;
    text += (text === "{" ? keys : furtherKeys)[i];
    if (isPlain) text += '"';
    text += written;
    if (isPlain) text += '"';
  }
  for (const name of relations) {
    const related = record[name];
    const written = related === undefined ? undefined : writeJson(related, scope, depth + 1);
    if (written !== undefined) text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:${written}`;
  }
  return `${text}}`;
}

/** Characters that JSON escapes. Most texts have none, and testing is cheaper than `JSON.stringify`. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function writePlain(value: unknown, scope: OperationScope, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
    case "number":
      return Number.isFinite(value) ? `${value}` : "null";
    case "boolean":
      return value ? "true" : "false";
    default:
      return value === null ? "null" : JSON.stringify(present(value, scope, true, depth));
  }
}

/** The columns and relations of an entity that a mask shows. */
interface RecordShape {
  readonly entity: AnyEntity;
  readonly columns: readonly ColumnDefinition[];
  /** The columns' names as JSON keys, with the colon. */
  readonly keys: readonly string[];
  /** The same keys after a comma. */
  readonly furtherKeys: readonly string[];
  readonly relations: readonly string[];
}

const shapes = new WeakMap<FieldMask, RecordShape>();
/** The last used shape, since the records of a list share one. */
let last: { readonly mask: FieldMask; readonly shape: RecordShape } | undefined;

/** The key for the numbers of a record's related records, by relation. */
export const COUNTS = "_count";

/** Columns and relations that a mask shows, in declared order; computed once per mask. */
function shapeOf(entity: AnyEntity, mask: FieldMask): RecordShape {
  if (last?.mask === mask && last.shape.entity === entity) return last.shape;
  let shape = shapes.get(mask);
  // Masks come from plugins, and one may serve several entities.
  if (shape?.entity !== entity) {
    const columns = Object.values(entity.columns).filter(({ name }) => mask.readable.has(name));
    const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
    shape = {
      entity,
      columns,
      keys,
      furtherKeys: keys.map((key) => `,${key}`),
      relations: namesOfRelated(entity),
    };
    shapes.set(mask, shape);
  }
  last = { mask, shape };
  return shape;
}

/** The keys that a record may have in addition to its columns: relations, their counts, and highlights. */
function namesOfRelated(entity: AnyEntity): readonly string[] {
  const isMany = ({ type }: AnyEntity["relations"][string]): boolean => type === "hasMany" || type === "manyToMany";
  const counts = Object.values(entity.relations).some(isMany) ? [COUNTS] : [];
  return [...Object.keys(entity.relations), ...counts, ...(isSearchable(entity) ? [HIGHLIGHTS] : [])];
}

/** The content of a Keelson error, with every record in it masked for the caller; undefined for other errors. */
export async function presentError(error: unknown, scope: OperationScope): Promise<ErrorContent | undefined> {
  if (!isKeelsonError(error)) return undefined;
  try {
    const said = error.toJSON();
    // Most errors cannot contain a record, so they do not wait for masks.
    const isFlat = Object.values(said).every((value) => typeof value !== "object");
    return tellable(isFlat ? said : await presentSettled(said, scope, true));
  } catch {
    return bareContent(error);
  }
}

/**
 * The caller that shown fields were decided for. All anonymous callers share a principal, but are different callers.
 */
type Caller = Pick<OperationScope, "principal" | "requestId">;

interface Shown extends Caller {
  readonly fields: ReadonlySet<string>;
}

/**
 * Stores which of its record-dependent fields a record shows to the caller of a scope, after asynchronous rules have
 * decided. Applies to later copies of the tagged record, and only to this caller.
 */
export function markShown(record: Row, { principal, requestId }: Caller, fields: ReadonlySet<string>): void {
  noteShown(record, { principal, requestId, fields } satisfies Shown);
}

/**
 * Whether a record shows its caller a field whose rules depend on the record. Decided on the values as read, since a
 * copy may have other values. A field that cannot be decided here is not shown.
 */
export function showsField(
  scope: OperationScope,
  entity: AnyEntity,
  record: Row,
  name: string,
  access: RowAccess,
): boolean {
  const known = knownOf(record);
  const shown = known?.shown as Shown | undefined;
  if (shown?.principal === scope.principal && shown.requestId === scope.requestId) return shown.fields.has(name);
  return known?.values !== undefined && satisfiesAlone(scope, entity, known.values, access) === true;
}

/** Whether a record meets the condition of an access; undefined when the record alone cannot decide it. */
export function satisfiesAlone(
  scope: OperationScope,
  entity: AnyEntity,
  record: Row,
  { predicate }: RowAccess,
): boolean | undefined {
  if (predicate === undefined) return undefined;
  const condition = compileWhere(scope.app.model, entity, predicate);
  return needsOnly(condition, record) ? matchesAlone(condition, record) : undefined;
}
