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
 * A value as plain JSON data with every record in it, at any depth, masked for the caller. `wire` turns datetimes into
 * ISO text; without it they stay `Date`s, for callers in the process. Where a mask is not final yet it shows too
 * little; see `presentSettled`.
 * @throws InternalError for a value that is nested too deeply or circular
 */
export function present(value: unknown, scope: OperationScope, wire: boolean, depth = 0): unknown {
  return presentPlain(value, new RecordPresenter(scope, wire), depth);
}

/** Shows records as their masks say. */
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
    // Code may have put a record into a JSON column.
    if (kind.toWire === undefined) plain[name] = presentPlain(value, presenter, depth + 1);
    else plain[name] = presenter.wire && value !== null ? kind.toWire(value) : value;
  }
  for (const name of relations) {
    const related = record[name];
    if (related !== undefined) plain[name] = presentPlain(related, presenter, depth + 1);
  }
  return plain;
}

/** As `present`, but with final masks: presents again when a mask was not final yet. The only way out of the gate. */
export async function presentSettled(value: unknown, scope: OperationScope, wire: boolean): Promise<unknown> {
  for (;;) {
    const plain = present(value, scope, wire);
    const pending = scope.access.maskReady();
    if (pending === undefined) return plain;
    await pending;
  }
}

/**
 * A value as JSON text, with every record in it masked; a promise only where a mask was not final yet.
 * @returns undefined for values that JSON cannot express (functions, undefined)
 */
export function toJson(value: unknown, scope: OperationScope): string | undefined | Promise<string | undefined> {
  const text = writeJson(value, scope, 0);
  return scope.access.maskReady()?.then(() => toJson(value, scope)) ?? text;
}

/**
 * What `JSON.stringify` makes of `present(value, scope, true)`. Records and lists of records are written without
 * intermediate objects, in a third of the time; everything else is left to `JSON.stringify`.
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
  // Piece by piece, to avoid intermediate strings.
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

/**
 * Characters that JSON escapes. Most texts have no such characters, and testing is cheaper than writing letter by
 * letter.
 */
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

/** What a mask shows of an entity. */
interface RecordShape {
  readonly entity: AnyEntity;
  readonly columns: readonly ColumnDefinition[];
  /** The columns' names as JSON has them, with the colon. */
  readonly keys: readonly string[];
  /** The same after a comma. */
  readonly furtherKeys: readonly string[];
  readonly relations: readonly string[];
}

const shapes = new WeakMap<FieldMask, RecordShape>();
/** The last one: the records of a list come one after the other. */
let last: { readonly mask: FieldMask; readonly shape: RecordShape } | undefined;

/** Under which key a record has the number of its related records, by relation. */
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

/** What a record may have besides its columns: related records, and how many there are. */
function namesOfRelated(entity: AnyEntity): readonly string[] {
  const isMany = ({ type }: AnyEntity["relations"][string]): boolean => type === "hasMany" || type === "manyToMany";
  const counts = Object.values(entity.relations).some(isMany) ? [COUNTS] : [];
  return [...Object.keys(entity.relations), ...counts, ...(isSearchable(entity) ? [HIGHLIGHTS] : [])];
}

/** What a Keelson error says, with every record in it masked for the caller; undefined for any other error. */
export async function presentError(error: unknown, scope: OperationScope): Promise<ErrorContent | undefined> {
  if (!isKeelsonError(error)) return undefined;
  try {
    const said = error.toJSON();
    // Most errors cannot contain a record, and need not wait for a mask.
    const isFlat = Object.values(said).every((value) => typeof value !== "object");
    return tellable(isFlat ? said : await presentSettled(said, scope, true));
  } catch {
    return bareContent(error);
  }
}

/** The caller a note is for. All anonymous callers share a principal, but are not the same caller. */
type Caller = Pick<OperationScope, "principal" | "requestId">;

interface Shown extends Caller {
  readonly fields: ReadonlySet<string>;
}

/**
 * Notes which of the fields that depend on the record it shows the caller of a scope, decided where asynchronous rules
 * could run. It holds for later copies of the tagged record, and for this caller only.
 */
export function markShown(record: Row, { principal, requestId }: Caller, fields: ReadonlySet<string>): void {
  noteShown(record, { principal, requestId, fields } satisfies Shown);
}

/**
 * Whether a record shows its caller a field that depends on the record. Decided by the values that were read, since a
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

/** Whether a record satisfies the condition of an access; undefined when the record alone cannot decide it. */
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
