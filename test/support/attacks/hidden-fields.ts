import type { Canary } from "../protected/canaries.ts";
import { withheld } from "../protected/rights.ts";
import { type CallerName, mayRead } from "../protected/truth.ts";
import { ATTACKERS } from "./private-objects.ts";
import type { Attack, Probe } from "./probe.ts";
import { inTurn, turnOf, usuallyOne } from "./turn-of.ts";

const PATHS: Readonly<Record<string, string>> = {
  note: "/api/notes",
  vault: "/api/vaults",
  badge: "/api/badges",
  person: "/api/people",
};
/** Queries that reach an entity through a relation. */
const RELATED: Readonly<Record<string, readonly (readonly [path: string, relation: string])[]>> = {
  person: [
    ["/api/people", "boss"],
    ["/api/people", "friends"],
    ["/api/notes", "author"],
    ["/api/attachments", "author"],
  ],
  note: [["/api/people", "notes"]],
  vault: [["/api/people", "vaults"]],
  badge: [["/api/people", "badge"]],
};
const DOORS = ["", "/count", "/export"];
const OPERATORS = ["", "_ne", "_gt", "_gte", "_lt", "_lte", "_in", "_nin", "_like", "_starts", "_ends", "_null"];

/** Reconstructing a hidden field bit by bit with filters, sorts, searches, cursors and selections. */
export const hiddenFields: Attack = {
  name: "hidden fields as oracles",
  async run(probe) {
    for (const caller of ATTACKERS) {
      for (const [index, canary] of probe.canaries.all.entries()) await whatItsValueTells(probe, caller, canary, index);
      await whatIsWithheld(probe, caller);
    }
  },
};

const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString("base64url");

/** A query cannot use a field that the caller may not query. */
async function whatIsWithheld(probe: Probe, caller: CallerName): Promise<void> {
  const refuse = async (path: string): Promise<void> => {
    const { status, headers } = await probe.send(caller, "GET", path);
    if (status < 400 || status >= 500) probe.found(`${caller} GET ${path} was answered ${status}`);
    if (headers.has("x-total-count")) probe.found(`${caller} GET ${path} says how many`);
  };
  // Another way for each field and each caller.
  let turn = ATTACKERS.indexOf(caller);
  for (const [entity, path] of Object.entries(PATHS)) {
    const values = probe.canaries.all.filter((one) => one.entity === entity);
    for (const field of withheld(entity, caller, "f")) {
      const value = values.find((one) => one.field === field)?.text ?? "cnry";
      for (const [index, operator] of inTurn(OPERATORS, turn++)) {
        const asked = `${field}${operator}=${operator === "_null" ? "true" : value}`;
        for (const door of turnOf(Math.floor(index / 2), DOORS)) await refuse(`${path}${door}?${asked}`);
        for (const [list, relation] of turnOf(Math.floor(index / 2), RELATED[entity] ?? []))
          await refuse(`${list}?${relation}.${asked}`);
      }
    }
    for (const field of withheld(entity, caller, "s")) {
      const orders = [
        `_sort=${field}`,
        `_sort=id,-${field}`,
        `_sort=${field}&_order=desc&_limit=1`,
        `_sort=${field}&_after=${cursor(`${field},id`, "m", "m")}`,
        `_after=${cursor(`${field},id`, "m", "m")}`,
      ];
      for (const order of usuallyOne(turn++, orders))
        for (const door of turnOf(turn, ["", "/export"])) await refuse(`${path}${door}?${order}`);
    }
    for (const field of withheld(entity, caller, "r")) {
      const choices = [`select=${field}`, `select=id,${field}`, `include=${field}`, `_embed=${field}`];
      for (const chosen of usuallyOne(turn++, choices))
        for (const door of turnOf(turn, ["", "/export", `/${entity}-ann`])) await refuse(`${path}${door}?${chosen}`);
      for (const [list, relation] of usuallyOne(turn, RELATED[entity] ?? []))
        await refuse(`${list}?include=${relation}.${field}`);
    }
  }
}

/** A hidden value finds no record, in any kind of search. */
async function whatItsValueTells(probe: Probe, caller: CallerName, canary: Canary, turn: number): Promise<void> {
  const { entity, field, text, reader, facts } = canary;
  const path = PATHS[entity];
  if (path === undefined || mayRead(caller, reader, facts)) return;
  const asked = [
    `${field}=${text}`,
    `${field}_in=${text},x`,
    `${field}_starts=${text.slice(0, -1)}`,
    `${field}_like=${text.slice(1)}`,
    `${field}_gte=${text}&${field}_lte=${text}`,
    `q=${text}`,
  ];
  const id = entity === "person" ? facts.owner : `${entity}-${facts.owner}`;
  const about = facts.owner === undefined ? [] : [`${field}_ne=1&id=${id}`, `${field}_null=false&id=${id}`];
  for (const [index, query] of inTurn([...asked, ...about], turn))
    for (const door of turnOf(Math.floor(index / 2), DOORS)) {
      const { status, json, headers } = await probe.send(caller, "GET", `${path}${door}?${query}`);
      if (status >= 400) continue;
      const found = Math.max(json.length ?? json.count, Number(headers.get("x-total-count") ?? 0));
      if (found > 0) probe.found(`${caller} found ${found} by ${query} at ${path}${door}`);
    }
}
