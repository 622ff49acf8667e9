import type { Attack } from "./probe.ts";
import { turnOf } from "./turn-of.ts";

/** How other systems write conditions, sorts and selections; Keelson accepts none of them. */
const NOTATIONS: readonly ((field: string, value: string) => string)[] = [
  (f, v) => `where[${f}][startsWith]=${v}`,
  (f, v) => `where[${f}]=${v}`,
  (f, v) => `where=${encodeURIComponent(JSON.stringify({ [f]: v }))}`,
  (f, v) => `_where[${f}]=${v}`,
  (f, v) => `_where=${f}:${v}`,
  (f, v) => `filter[${f}]=${v}`,
  (f, v) => `filter[${f}][eq]=${v}`,
  (f, v) => `filters[${f}][$startsWith]=${v}`,
  (f, v) => `filter=${encodeURIComponent(JSON.stringify({ [f]: { _starts_with: v } }))}`,
  (f, v) => `${f}[not]=${v}`,
  (f, v) => `${f}[startsWith]=${v}`,
  (f, v) => `${f}[]=${v}`,
  (f, v) => `${f}[0]=${v}`,
  (f, v) => `${f}.startsWith=${v}`,
  (f, v) => `${f}__startswith=${v}`,
  (f, v) => `${f}__like=${v}`,
  (f, v) => `${f}$like=${v}`,
  (f, v) => `${f}:like=${v}`,
  (f, v) => `OR[0][${f}]=${v}`,
  (f, v) => `$or[0][${f}]=${v}`,
  (f, v) => `$or=${encodeURIComponent(JSON.stringify({ 0: { [f]: v }, length: 1 }))}`,
  (f, v) => `NOT[${f}]=${v}`,
  (f, v) => `AND[0][OR][0][${f}]=${v}`,
  (f, v) => `or=(${f}.eq.${v})`,
  (f, v) => `$where=this.${f}==='${v}'`,
  (f, v) => `$relatedTo[object][${f}]=${v}`,
  (f, v) => `t0.${f}=${v}`,
  (f, v) => `t1.${f}_starts=${v}`,
  (f, v) => `person.${f}=${v}`,
  (f, v) => `"${f}"=${v}`,
  (f, v) => `${f.toUpperCase()}=${v}`,
  (f, v) => `${f[0]?.toUpperCase()}${f.slice(1)}=${v}`,
  (f, v) => `${f}%20=${v}`,
  (f, v) => `%20${f}=${v}`,
  (f, v) => `${f}%00=${v}`,
  (f, v) => `${f.slice(0, 2)}%00${f.slice(2)}=${v}`,
  (f, v) => `${String.fromCharCode(0xfee0 + f.charCodeAt(0))}${f.slice(1)}=${v}`,
  (f, v) => `boss.boss.${f}=${v}`,
  (f, v) => `boss.${f}.x=${v}`,
  (f, v) => `boss[${f}]=${v}`,
  (f, v) => `boss__${f}__startswith=${v}`,
  (f, v) => `include[boss][where][${f}]=${v}`,
  (f) => `include=boss(${f})`,
  (f) => `include=boss.${f}`,
  (f) => `include=boss:${f}`,
  (f) => `select=boss.${f}`,
  (f) => `select[${f}]=1`,
  (f) => `select=*,${f}`,
  (f) => `fields=${f}`,
  (f) => `_fields=${f}`,
  (f) => `attributes=${f}`,
  (f) => `_sort=boss.${f}`,
  (f) => `_sort[${f}]=asc`,
  (f) => `_sort=${f}:asc`,
  (f) => `orderBy[${f}]=asc`,
  (f) => `orderBy=${f}`,
  (f) => `order=${f}`,
  (f) => `sort=${f}`,
  (f, v) => `cursor[${f}]=${v}`,
  (f, v) => `cursor=${Buffer.from(JSON.stringify({ [f]: v })).toString("base64url")}`,
  (f) => `distinct=${f}`,
  (f, v) => `having[${f}]=${v}`,
  (f) => `groupBy=${f}`,
  (f) => `by=${f}`,
  (f) => `_count=${f}`,
  (f) => `_min=${f}`,
  (f) => `aggregate[max]=${f}`,
  (f) => `meta[${f}]=1`,
  (f, v) => `q[${f}]=${v}`,
  (f) => `q_fields=${f}&q=x`,
  (f, v) => `search[${f}]=${v}`,
  (f, v) => `match[${f}]=${v}`,
  (f, v) => `answers.${f}=${v}`,
  (f, v) => `answers[path][0]=${f}&answers[equals]=${v}`,
];

/** Another system's query syntax, on every route that takes a query. */
export const otherNotations: Attack = {
  name: "other notations and unknown parameters",
  async run(probe) {
    const fine = await probe.send("anonymous", "GET", "/api/people?name_like=itself&_sort=name&select=name");
    probe.control(fine.status === 200 && fine.json.length > 0, `a query of ours was answered ${fine.status}`);
    const doors = [
      "/api/people",
      "/api/people/count",
      "/api/people/export",
      "/api/people/bob",
      "/api/people/bob/exists",
    ];
    for (const [turn, field] of ["password", "apiToken", "salary", "nobodysNote"].entries())
      for (const [index, write] of NOTATIONS.entries())
        for (const caller of turnOf(index, ["anonymous", "ann"] as const))
          for (const door of turnOf(index + turn, doors)) {
            const value = probe.canaries.all.find((one) => one.field === field)?.text ?? "x";
            const path = `${door}?${write(field, value.slice(0, 6))}`;
            const { status } = await probe.send(caller, "GET", path);
            if (status < 400 || status >= 500) probe.found(`${caller} GET ${path} was answered ${status}`);
          }
  },
};
