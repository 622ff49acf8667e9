/** The decisions of rules (rules.md): before a record is known, and about one record. */
import type { Access, Caller, Condition, EntityModel, Model, Principal, Row, RuleModel } from "../model.ts";
import { ownerColumn } from "../model.ts";
import { holds } from "./conditions.ts";
import type { World } from "./world.ts";

/** The subject of a decision: a list (no record), a stored record, or a record to be created. */
export type Asked = "list" | "stored" | "create";
/** Before a record is known: passes for all, for no record, or depends on the record. */
export type Reach = "all" | "none" | "some";

const mentionsMe = (condition: Condition): boolean => JSON.stringify(condition).includes('"me"');

function reachOfRule(entity: EntityModel, rule: RuleModel, by: Principal, asked: Asked): Reach {
  const owner = (): Reach => {
    if (by === null) return "none";
    if (asked !== "create") return "some";
    return entity.ownedBy === "id" ? "none" : "all"; // the creator of a record owns it; a user cannot create themselves
  };
  switch (rule.rule) {
    case "everyone":
      return "all";
    case "authenticated":
      return by === null ? "none" : "all";
    case "admin":
      return by?.role === "admin" ? "all" : "none";
    case "owner":
      return owner();
    case "ownerOrAdmin":
      return by?.role === "admin" ? "all" : owner();
    case "team":
      return by?.team === rule.team ? "all" : "none";
    case "where":
      return by === null && mentionsMe(rule.where) ? "none" : "some";
    case "record":
      return asked === "list" ? "none" : "some";
    case "guarded":
      if (asked === "create") return "some";
      return by === null && mentionsMe(rule.where) ? "none" : "some";
    case "all": {
      const parts = rule.of.map((one) => reachOfRule(entity, one, by, asked));
      if (parts.includes("none")) return "none";
      return parts.every((one) => one === "all") ? "all" : "some";
    }
  }
}

export function reachOf(
  entity: EntityModel,
  rules: readonly RuleModel[] | undefined,
  by: Principal,
  asked: Asked,
): Reach {
  const reaches = (rules ?? []).map((one) => reachOfRule(entity, one, by, asked));
  if (reaches.includes("all")) return "all";
  return reaches.includes("some") ? "some" : "none";
}

function rulePasses(
  model: Model,
  world: World,
  entity: EntityModel,
  row: Row,
  rule: RuleModel,
  by: Principal,
  asked: Asked,
): boolean {
  const reach = reachOfRule(entity, rule, by, asked);
  if (reach !== "some") return reach === "all";
  const meets = (condition: Condition): boolean => holds(model, world, entity, row, condition, by);
  switch (rule.rule) {
    case "where":
      return meets(rule.where);
    case "record":
      return (by !== null || !mentionsMe(rule.test)) && meets(rule.test);
    case "guarded":
      if (asked !== "create") return meets(rule.where);
      return (by !== null || !mentionsMe(rule.test)) && meets(rule.test);
    case "all":
      return rule.of.every((one) => rulePasses(model, world, entity, row, one, by, asked));
    default:
      return row[ownerColumn(entity) as string] === (by as Caller).id;
  }
}

/** Whether any of the rules passes for a record. */
export function passes(
  model: Model,
  world: World,
  entity: EntityModel,
  row: Row,
  rules: readonly RuleModel[] | undefined,
  by: Principal,
  asked: Asked,
): boolean {
  return (rules ?? []).some((one) => rulePasses(model, world, entity, row, one, by, asked));
}

export const allowed = (model: Model, world: World, entity: EntityModel, row: Row, access: Access, by: Principal) =>
  passes(model, world, entity, row, entity.rules[access], by, "stored");

/** Whether a rule is code that reads the record, or contains such code. */
export const looksAtRecord = (rule: RuleModel): boolean =>
  rule.rule === "record" || (rule.rule === "all" && rule.of.some(looksAtRecord));

/** Whether this list of rules can only decide after code has read the record. */
export function needsCode(rules: readonly RuleModel[] | undefined, entity: EntityModel, by: Principal): boolean {
  const undecided = (rules ?? []).filter((one) => reachOfRule(entity, one, by, "stored") === "some");
  return reachOf(entity, rules, by, "stored") !== "all" && undecided.some(looksAtRecord);
}
