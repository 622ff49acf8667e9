/** Prints a counter-example so that a person can read it and reproduce it. */

import type {
  Condition,
  EntityModel,
  FieldModel,
  Principal,
  RelationModel,
  ReportModel,
  RuleModel,
  Scenario,
  Step,
  Value,
} from "./model.ts";
import { entityOf } from "./model.ts";
import { searchOf } from "./requests.ts";
import type { Finding } from "./run-scenario.ts";
import { clientCall } from "./through-clients.ts";

const value = (one: Value | readonly Value[]): string => {
  if (Array.isArray(one)) return `[${one.map((each) => value(each)).join(", ")}]`;
  return one !== null && typeof one === "object" ? `me.${(one as { me: string }).me}` : JSON.stringify(one);
};

function condition(of: Condition): string {
  switch (of.is) {
    case "column":
      return of.op === "eq" ? `${of.column}: ${value(of.value)}` : `${of.column}: { ${of.op}: ${value(of.value)} }`;
    case "related":
      return `${of.relation}: { ${condition(of.matches)} }`;
    case "not":
      return `NOT: { ${condition(of.of)} }`;
    default:
      return `${of.is.toUpperCase()}: [${of.of.map((one) => `{ ${condition(one)} }`).join(", ")}]`;
  }
}

export function rule(of: RuleModel): string {
  if (of.rule === "team") return `(me) => me.team === ${JSON.stringify(of.team)}`;
  if (of.rule === "where") return `{ ${condition(of.where)} }`;
  if (of.rule === "record") return `(record) => record meets { ${condition(of.test)} }`;
  if (of.rule === "guarded")
    return `(record) => record meets { ${condition(of.test)} }, where: { ${condition(of.where)} }`;
  return of.rule === "all" ? `all(${of.of.map(rule).join(", ")})` : JSON.stringify(of.rule);
}
const rules = (list: readonly RuleModel[]): string => list.map(rule).join(", ");

function field(of: FieldModel): string {
  const flags = (["optional", "unique", "readonly", "omit", "password", "computedFrom"] as const).filter(
    (one) => of[one],
  );
  return [
    `${of.name}: ${of.long ? "text" : of.kind}`,
    ...flags.map((one) => `.${one}()`),
    of.default === undefined ? "" : `.default(${JSON.stringify(of.default)})`,
    of.encrypted ? `.encrypted(${of.encrypted === "searchable" ? "{ searchable: true }" : ""})` : "",
    of.searched === undefined ? "" : `.searchable({ weight: ${of.searched} })`,
    of.readable ? `.readable(${rules(of.readable)})` : "",
    of.writable ? `.writable(${rules(of.writable)})` : "",
  ].join("");
}

const relation = (of: RelationModel): string =>
  [
    `${of.name}: ${of.kind}(${of.kind === "selfRef" ? "" : of.target})`,
    of.optional ? ".optional()" : "",
    of.unique ? ".unique()" : "",
    of.onDelete ? `.onDelete("${of.onDelete}")` : "",
    of.inverse ? `.inverse("${of.inverse}")` : "",
  ].join("");

const report = (of: ReportModel): string =>
  `${of.method}${of.onResource ? " on a record" : ""}, ${of.rules ? `rules [${rules(of.rules)}]` : "inherits its rules"}`;

const who = (by: Principal): string =>
  by === null ? "anonymous" : `${by.id} (team ${by.team}${by.role ? `, ${by.role}` : ""})`;

function printStep(scenario: Scenario, step: Step): string {
  const { call } = step;
  const entity = entityOf(scenario.model, step.on);
  const about = "id" in call ? ` ${call.id}` : "";
  const given = step.surface === "steps" ? undefined : clientCall(entity, call);
  const search = "query" in call ? decodeURIComponent(searchOf(call.query)) : "";
  const { do: kind, ...rest } = call as Step["call"] & Record<string, unknown>;
  const sent = Object.entries(rest).filter(([name]) => !["id", "query"].includes(name));
  return [
    `  ${step.uid} ${who(step.by)}: ${kind} ${entity.name}${about}${search}`,
    sent.length > 0 ? ` ${JSON.stringify(Object.fromEntries(sent))}` : "",
    step.surface === "http" ? "" : ` through ${step.surface}${given === undefined ? "" : ` ${JSON.stringify(given)}`}`,
    step.match ? `\n    if the record has ${JSON.stringify(step.match)}` : "",
    step.unseen ? `\n    and again after ${JSON.stringify(step.unseen)}` : "",
    step.waitsFor ? `\n    while ${step.waitsFor.entity} ${step.waitsFor.id} is locked` : "",
    step.meanwhile ? `\n    meanwhile: ${JSON.stringify(step.meanwhile)}` : "",
    step.again ? `\n    again, with the same key, as ${who(step.again)}` : "",
  ].join("");
}

const printEntity = (one: EntityModel): string =>
  [
    `  ${one.name} {`,
    ...one.fields.map((each) => `    ${field(each)}`),
    ...one.relations.map((each) => `    ${relation(each)}`),
    `  }${one.ownedBy ? ` .ownedBy("${one.ownedBy}")` : ""}${one.softDelete ? " .softDelete()" : ""}${one.hideForbidden ? " .hideForbidden()" : ""}${one.minGroup ? ` .minGroup(${one.minGroup})` : ""}`,
    ...one.validators.map(({ holds }) => `    .validate(record meets { ${condition(holds)} })`),
    ...(one.report ? [`    report: ${report(one.report)}`] : []),
    ...Object.entries(one.rules).map(([access, list]) => `    ${access}: [${rules(list ?? [])}]`),
  ].join("\n");

/** @param isBrief prints only the last step and its entity */
export function printScenario(scenario: Scenario, finding: Finding, isBrief = false): string {
  const { model, data, steps } = scenario;
  if (isBrief)
    return [
      ...model.entities.filter(({ name }) => name === finding.step.on).map(printEntity),
      printStep(scenario, finding.step),
      `expected ${finding.expected}`,
      `got      ${finding.got}`,
    ].join("\n");
  const entities = model.entities.map(printEntity);
  const rows = Object.entries(data.rows).flatMap(([name, list]) =>
    list.map((row) => `  ${name} ${JSON.stringify(row)}`),
  );
  const pairs = Object.entries(data.pairs).flatMap(([at, list]) => list.map((pair) => `  ${at}: ${pair}`));
  return [
    `model${model.pageBytes === undefined ? "" : `, pages of ${model.pageBytes} bytes`}`,
    ...entities,
    "rows",
    ...rows,
    ...pairs,
    "steps",
    ...steps.map((step) => printStep(scenario, step)),
    `expected ${finding.expected}`,
    `got      ${finding.got}`,
  ].join("\n");
}
