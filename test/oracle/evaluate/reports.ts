/** The response of an action whose handler returns records that it read itself (actions.md; ADR 13). */
import type {
  Access,
  Call,
  Condition,
  EntityModel,
  FieldModel,
  HandlerRead,
  Principal,
  ReportModel,
  Row,
  RuleModel,
} from "../model.ts";
import { claimsOf, entityOf, keyOf, keysOf, ownerColumn } from "../model.ts";
import { holds } from "./conditions.ts";
import { missing, type Outcome, refused, refusedOne, type Setting } from "./outcome.ts";
import * as reads from "./reads.ts";
import { looksAtRecord, passes, reachOf } from "./rules.ts";
import { readableReach, shown, type View } from "./shown.ts";
import { isLive, rowOf, rowsOf } from "./world.ts";
import { isOutcome } from "./writes.ts";

type Report = Extract<Call, { do: "report" }>;

export function report(setting: Setting, call: Report): Outcome[] {
  const { entity, by } = setting;
  const action = entity.report as ReportModel;
  let row: Row | undefined;
  if (action.onResource) {
    const own = ownRecord(setting, action, call.id);
    if (isOutcome(own)) return [own];
    row = own;
  } else if (!mayReport(entity, action, by)) return [refused(by)];
  return found(setting, call, row).map(({ status, body }) => ({
    status,
    body: status === 200 ? handled(setting, call, body) : body,
  }));
}

/** The entity's rule that applies to an action without rules of its own. */
export const inheritedBy = ({ method, onResource }: ReportModel): Access => {
  if (method === "GET") return "read";
  return onResource ? "update" : "create";
};

/**
 * Whether the caller may use the action, for some records or all. A collection action has no record: rules that pass for
 * some records do not pass, except inherited `read` rules, since the handler limits what it reads.
 */
export function mayReport(entity: EntityModel, action: ReportModel, by: Principal): boolean {
  const access = inheritedBy(action);
  const rules = action.rules ?? entity.rules[access];
  if (action.onResource) return reachOf(entity, rules, by, "stored") !== "none";
  const isInherited = action.rules === undefined;
  const reach = reachOf(entity, rules, by, isInherited && access === "create" ? "create" : "list");
  return reach === "all" || (reach === "some" && isInherited && access === "read");
}

/** The record of a record action, or its refusal. */
function ownRecord(setting: Setting, action: ReportModel, id: string | undefined): Row | Outcome {
  const { model, world, entity, by } = setting;
  const rules = action.rules ?? entity.rules[inheritedBy(action)];
  const reach = reachOf(entity, rules, by, "stored");
  if (reach === "none") return refusedOne(setting);
  const row = rowOf(world, entity.name, id);
  if (row === undefined || !isLive(entity, row)) return missing(setting, reach);
  return passes(model, world, entity, row, rules, by, "stored") ? row : refusedOne(setting);
}

/** The handler's data when its response is masked for the caller. */
function found(setting: Setting, { read }: Report, own: Row | undefined): Outcome[] {
  const { model, world } = setting;
  // The action's own record was read by an operation, which could evaluate its field rules.
  if (read.from === "record")
    return [{ status: 200, body: own === undefined ? null : shown(setting, setting.entity, own) }];
  const entity = entityOf(model, read.entity);
  if (read.from === "client") {
    const asked = { ...setting, entity, inProcess: true as const };
    return read.call.do === "get" ? reads.get(asked, read.call) : reads.list(asked, read.call);
  }
  const rows = rowsOf(world, entity.name)
    .filter((row) => holds(model, world, entity, row, read.where, setting.by))
    .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
    .map((row) => shownAlone(setting, entity, row, read.select));
  return [{ status: 200, body: read.one ? (rows[0] ?? null) : rows }];
}

/** A record that a handler read without rules, possibly softly deleted: its fields are still masked for the caller. */
function shownAlone(view: View, entity: EntityModel, row: Row, select?: readonly string[]): Row {
  const columns = ["id", ...entity.fields.map(({ name }) => name), ...keysOf(entity).map(keyOf)];
  const read = columns.filter((name) => select === undefined || select.includes(name));
  const isShown = (name: string): boolean => {
    const field = entity.fields.find((one) => one.name === name);
    return field === undefined || showsAlone(view, entity, field, row, read);
  };
  return Object.fromEntries(read.filter(isShown).map((name) => [name, row[name] ?? null]));
}

/**
 * Decided only by the columns that were read. Fields that they cannot decide are hidden: those with rules that run code on
 * the record, or with conditions on related records or on unread columns. Such a condition hides the field even if another
 * rule would have shown it.
 */
function showsAlone(view: View, entity: EntityModel, field: FieldModel, row: Row, read: readonly string[]): boolean {
  const { model, world, by } = view;
  const reach = readableReach(entity, field, by);
  if (reach !== "some") return reach === "all";
  const conditions = (field.readable ?? []).filter(
    (rule) => reachOf(entity, [rule], by, "stored") === "some" && !looksAtRecord(rule),
  );
  const isDecided = conditions.every((rule) => columnsOf(entity, rule)?.every((name) => read.includes(name)));
  return isDecided && passes(model, world, entity, row, conditions, by, "stored");
}

/** The columns that a rule compares; undefined if it uses related records. */
function columnsOf(entity: EntityModel, rule: RuleModel): readonly string[] | undefined {
  const compared = (condition: Condition): readonly string[] | undefined => {
    if (condition.is === "related") return undefined;
    if (condition.is === "column") return [condition.column];
    return all(condition.is === "not" ? [condition.of] : condition.of, compared);
  };
  switch (rule.rule) {
    case "where":
    case "guarded":
      return compared(rule.where);
    case "owner":
    case "ownerOrAdmin":
      return [ownerColumn(entity) as string];
    case "all":
      return all(rule.of, (one) => columnsOf(entity, one));
    default:
      return [];
  }
}

function all<T>(list: readonly T[], of: (one: T) => readonly string[] | undefined): readonly string[] | undefined {
  const parts = list.map(of);
  return parts.includes(undefined) ? undefined : parts.flatMap((one) => one ?? []);
}

/** What the handler makes of it. A copy shows the fields that the record showed when it was read, also if its values changed. */
function handled(setting: Setting, { read, handling }: Report, body: unknown): unknown {
  if (handling === "nested") return [{ deep: { er: body } }];
  if (handling !== "claimed") return body;
  const claims = claimsOf(entityRead(setting, read), setting.by);
  const claimed = (one: unknown): unknown => ({ ...(one as Row), ...claims });
  return Array.isArray(body) ? body.map(claimed) : body === null ? null : claimed(body);
}

const entityRead = ({ model, entity }: Setting, read: HandlerRead): EntityModel =>
  read.from === "record" ? entity : entityOf(model, read.entity);
