import { type AnyEntity, type ColumnDefinition, type FieldKind, plainField } from "../../../entity/index.ts";
import {
  ALWAYS,
  allOf,
  askedOfStored,
  type Condition,
  compileWhere,
  expectUnchanged,
  type FieldQuestion,
  findsRecord,
  meets,
  NEVER,
  type Operation,
  observe,
  type Row,
  type RowAccess,
  storedMeet,
  storedRecord,
  visitCondition,
  type Where,
} from "../../../gate/index.ts";
import type { RuledField } from "./narrow-mask.ts";

/** Whether the record allows a write to a field. */
type Judge = (access: RowAccess) => Promise<boolean>;

/**
 * Removes fields from a write that the rules of single fields do not allow, and adds their names to `ignored` (spec 4.1
 * rule 2). On update, the stored record decides, and the statement only applies while it still allows the write.
 */
export async function dropUnwritable(fields: readonly RuledField[], operation: Operation): Promise<void> {
  const { kind, principal, data } = operation;
  if (principal.kind === "system") return;
  const undecided = new Map<string, RowAccess>();
  for (const { name, writable } of fields) {
    if (writable === undefined || data[name] === undefined) continue;
    const { entity, scope } = operation;
    const question: FieldQuestion = { kind: kind as "create" | "update", entity, principal, scope };
    const answer = await writable(question);
    if (question.apart === true) operation.apart = true;
    if (typeof answer === "object") undecided.set(name, answer);
    else if (!answer) drop(operation, name);
  }
  if (undecided.size === 0) return;
  if (operation.ids !== undefined) {
    operation.apart = true;
    return;
  }
  const judge = kind === "create" ? onNewRecord(operation, undecided) : onStoredRecord(operation);
  for (const [name, access] of undecided) if (!(await judge(access))) drop(operation, name);
}

function drop({ data, ignored }: Operation, name: string): void {
  delete data[name];
  if (!ignored.includes(name)) ignored.push(name);
}

function onNewRecord(operation: Operation, undecided: ReadonlyMap<string, RowAccess>): Judge {
  const { scope, entity, data } = operation;
  const record = newRecord(entity, data, undecided);
  const found = new Map<string, Promise<boolean>>();
  // A hidden reference is treated like a missing one: both are refused, and the response does not distinguish them.
  const refersToFound = async (columns: Iterable<string>): Promise<boolean> => {
    for (const name of columns) {
      const finding = found.get(name) ?? findsReferred(operation, name, record[name]);
      found.set(name, finding);
      if (!(await finding)) return false;
    }
    return true;
  };
  const meetsAsNew = async (where: Where): Promise<boolean> => {
    const condition = compileWhere(scope.app.model, entity, where);
    if (!isKnown(condition, record)) return false;
    const left = askedOfStored(condition, record);
    if (left === ALWAYS || left === NEVER) return left === ALWAYS;
    if (!(await refersToFound(keysIn(left))) || !(await storedMeet(scope.driver, left, record))) return false;
    operation.require(where, "changed");
    return true;
  };
  return async ({ predicate, guard }) => {
    if (predicate !== undefined && (await meetsAsNew(predicate))) return true;
    const seen = observe(entity, record);
    const answer = await guard?.(seen.record);
    // A column that is missing in the record is unknown, not empty.
    if (!answer || ![...seen.columns()].every((name) => name in record)) return false;
    if (!(await refersToFound(seen.columns()))) return false;
    return answer === true || meetsAsNew(answer);
  };
}

const schemas = new WeakMap<ColumnDefinition, ReturnType<FieldKind["schema"]>>();

/**
 * The certain part of the record that a create is about to store: values as validation will read them, defaults and
 * nulls. Columns are left out while it is undecided whether the caller may write them, because such a value must not
 * justify another one; so are columns whose value will be refused, or will be filled in by the database. Generated defaults are generated here, once.
 */
function newRecord(entity: AnyEntity, data: Row, undecided: ReadonlyMap<string, unknown>): Row {
  const record: Row = {};
  for (const column of Object.values(entity.columns)) {
    const { name, role, optional, field } = column;
    if ((role !== "field" && role !== "foreignKey") || undecided.has(name)) continue;
    const value = data[name] ?? defaultOf(column, data);
    if (value !== undefined && value !== null) readInto(record, column, value);
    else if (optional && (data[name] === null || field?.filledBy === undefined)) record[name] = null;
  }
  return record;
}

function defaultOf({ name, field }: ColumnDefinition, data: Row): unknown {
  const given = field?.default;
  if (given === undefined || data[name] === null) return undefined;
  if ("value" in given) return given.value;
  data[name] = given.make() ?? undefined;
  return data[name];
}

function readInto(record: Row, column: ColumnDefinition, value: unknown): void {
  const { name, kind, field } = column;
  const schema = schemas.get(column) ?? kind.schema(field ?? plainField(kind));
  schemas.set(column, schema);
  const read = schema.safeParse(value);
  if (read.success) record[name] = read.data;
}

/** The foreign keys through which a condition reads related records. */
function keysIn(condition: Condition): Set<string> {
  const keys = new Set<string>();
  visitCondition(condition, (leaf) => {
    if (leaf.op === "related" && leaf.relation.foreignKey !== undefined) keys.add(leaf.relation.foreignKey);
    return false;
  });
  return keys;
}

/**
 * Whether the caller can find the record that a column of a new record refers to; true for columns that are not
 * references.
 */
async function findsReferred({ scope, entity, principal }: Operation, name: string, id: unknown): Promise<boolean> {
  const relation = entity.columns[name]?.relation;
  if (relation === undefined || id === null) return true;
  const resolved = scope.app.model.relation(entity, relation);
  const isOwn = relation === entity.ownedBy && id === principal.user?.id;
  if (isOwn || resolved === undefined || resolved.remote) return true;
  return findsRecord(scope, { kind: "list", entity: resolved.target, query: { where: { id } } });
}

/** Whether a new record has all columns that a condition reads. */
function isKnown(condition: Condition, record: Row): boolean {
  let isKnown = true;
  visitCondition(condition, (leaf) => {
    if (leaf.op === "compare") isKnown &&= leaf.column.name in record;
    else isKnown &&= leaf.relation.type !== "belongsTo" || (leaf.relation.foreignKey as string) in record;
    return false;
  });
  return isKnown;
}

/** Only judges a record that the rules let this caller change, so that responses reveal nothing about other records. */
function onStoredRecord(operation: Operation): Judge {
  const { scope, entity, id } = operation;
  let loading: Promise<Row | null> | undefined;
  return async ({ predicate, guard }) => {
    loading ??= storedRecord(operation);
    const record = await loading;
    if (record === null) return false;
    if (predicate !== undefined) {
      const where = allOf({ id }, predicate);
      if ((await scope.driver.findOne(entity, where, { select: ["id"] })) !== null) {
        operation.require(predicate, "changed");
        return true;
      }
    }
    const seen = observe(entity, record);
    const answer = await guard?.(seen.record);
    if (!answer || (answer !== true && !(await meets(scope, entity, answer, record)))) return false;
    expectUnchanged(operation, seen);
    if (answer !== true) operation.require(answer, "changed");
    return true;
  };
}
