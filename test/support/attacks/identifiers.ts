import type { Attack } from "./probe.ts";
import { usuallyOne } from "./turn-of.ts";

/** Names that do not exist, and that would be SQL if names were concatenated. */
const NAMES = [
  "name) or 1=1 --",
  "name' or '1'='1",
  'name" = "name" or "name',
  '"name"',
  "`name`",
  "[name]",
  "person.name",
  'person"."name',
  "name;drop table person",
  "name/**/",
  "name--",
  "name::text",
  "lower(name)",
  "(select password from person limit 1)",
  "case when 1=1 then name else id end",
  "name asc, (select 1)",
  "1",
  "name\u0000",
  "na\nme",
  "name\\",
  "$1",
  "?",
  "%s",
  "passwоrd",
];
/** The same strings as values, which are valid. */
const VALUES = [
  "' or '1'='1",
  "'; drop table person; --",
  "x' union select password from person --",
  "\\'; --",
  '" or ""="',
  "1 or 1=1",
  "%",
  "_",
  "%' or 1=1 --",
  "*",
  "$where",
  '{"$ne":null}',
  '{"not":"x"}',
  "[object Object]",
];

/** SQL injection through names: identifiers come from the definitions alone. */
export const identifiers: Attack = {
  name: "identifiers and values that would be SQL",
  async run(probe) {
    const people = (await probe.stored("person")).length;
    probe.control(people >= 3, "there are people");
    for (const [turn, name] of NAMES.entries()) {
      const n = encodeURIComponent(name);
      const paths = [
        ...[`${n}=x`, `${n}_like=x`, `boss.${n}=x`, `${n}.name=x`, `name_${n}=x`, `_sort=${n}`, `_sort=-${n}`],
        ...[`_order=${n}&_sort=name`, `select=${n}`, `include=${n}`, `_limit=${n}`, `_page=${n}x`, `_total=${n}`],
      ].flatMap((query, index) =>
        usuallyOne(turn + index, ["", "/count", "/export"]).map((door) => `/api/people${door}?${query}`),
      );
      for (const path of [...paths, `/api/people/export?format=${n}`, `/api/people/${n}`, `/api/${n}`]) {
        const { status } = await probe.send("ann", "GET", path);
        const isNumber = name === "1" && /_limit=1$/.test(path);
        if (status >= 500 || (status < 400 && !isNumber)) probe.found(`GET ${path} was answered ${status}`);
      }
      for (const [method, path, body] of [
        ["PATCH", "/api/people/ann", { [name]: "x" }],
        ["PUT", "/api/people/bulk", { ids: ["ann"], data: { [name]: "x" } }],
        ["POST", "/api/accounts", { email: "a@sql.example", password: "long enough", [name]: "x" }],
      ] as const) {
        const { status } = await probe.send("ann", method, path, { body });
        if (status < 400 || status >= 500) probe.found(`${method} ${path} of ${name} was answered ${status}`);
      }
    }
    for (const value of VALUES) {
      const v = encodeURIComponent(value);
      for (const query of [`name=${v}`, `name_like=${v}`, `name_starts=${v}`, `name_ends=${v}`, `q=${v}`, `id=${v}`]) {
        const { status, json } = await probe.send("ann", "GET", `/api/people?${query}`);
        if (status >= 500 || json?.length > 0) probe.found(`?${query} found ${json?.length} (${status})`);
      }
      for (const path of [`/api/people/${v}`, `/api/people/${v}/exists`, `/api/letters/${v}`]) {
        const { status, json } = await probe.send("ann", "GET", path);
        if (status >= 500 || (status < 400 && json?.exists !== false))
          probe.found(`GET ${path} was answered ${status}`);
      }
      const { status } = await probe.send("ann", "PATCH", "/api/people/ann", { body: { name: value } });
      const [row] = (await probe.stored("person")).filter(({ id }) => id === "ann");
      if (status !== 200 || row?.name !== value) probe.found(`${value} was stored as ${row?.name} (${status})`);
      await probe.send("ann", "PATCH", "/api/people/ann", { body: { name: "ann itself" } });
    }
    if ((await probe.stored("person")).length !== people) probe.found("people are gone, or there are more of them");
  },
};
