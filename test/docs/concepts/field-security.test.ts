import { type Driver, generateEncryptionKey, type InProcessClient, type Keelson } from "keelson";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { request, startApp } from "../../support/http.ts";
import { openPage, type Page } from "../../support/page.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, tableBelow } from "./table-below.ts";

/** Columns of the tables, in order. */
const FIELDS = ["password", "token", "iban", "ssn", "review", "phone"] as const;
type FieldName = (typeof FIELDS)[number];
type Values = Record<string, unknown>;

let page: Page;
let api: Keelson;
let base: Driver;
let url = "";
let close: () => Promise<void>;
let made = 0;
const lines: string[] = [];
const answers: string[] = [];
const canaries: string[] = [];

/** A unique value for each field. */
function canariesOf(): Record<FieldName, string> {
  const values = Object.fromEntries(FIELDS.map((name) => [name, `canary-${name}-${made++}`]));
  canaries.push(...Object.values(values));
  return values as Record<FieldName, string>;
}

async function call(method: string, path: string, body?: unknown, headers = {}) {
  const answer = await request(url, method, `/api/people${path}`, { token: "ann", body, headers });
  answers.push(JSON.stringify(answer.status < 400 ? "" : answer.json));
  return answer;
}
const rowOf = async (id: string) => (await base.findOne("person", { id })) as Values;
const people = () =>
  api.asSystem() as unknown as InProcessClient<[]> & Record<"person", { create(data: object): unknown }>;

/** A record of ann's and one of another user's, with their values; without passwords, which are slow. */
async function twoRecords(rest: { readonly password?: string | undefined } = { password: undefined }) {
  const [own, other] = [canariesOf(), canariesOf()];
  const id = `other-${made}`;
  await base.deleteMany("person", { id: { ne: "" } });
  await people().person.create({ id: "ann", name: "Ann", ...own, ...rest });
  await people().person.create({ id, name: "Other", ...other, ...rest });
  return { own, other, id };
}

/** The table's word for a field in a stored row. */
function storedAs(row: Values, name: FieldName, value: string): string {
  const stored = String(row[name]);
  if (stored.startsWith("$pbkdf2$")) return "hashed";
  return stored === value ? "stored" : stored.startsWith("v1:") ? "encrypted" : `? ${stored}`;
}

/** The table's word for a field in two returned records. */
function shownAs(name: FieldName, own: Values, other: Values): string {
  const [mine, theirs] = [own[name] ?? undefined, other[name] ?? undefined].map((value) => value !== undefined);
  return mine ? (theirs ? "shown" : "own records") : theirs ? "? theirs" : "absent";
}

async function each(work: (name: FieldName) => Promise<string>): Promise<string[]> {
  const words: string[] = [];
  for (const name of FIELDS) words.push(await work(name));
  return words;
}

async function filtered(path: (name: FieldName, value: string) => string, matched: (json: never) => boolean) {
  const { own, other } = await twoRecords();
  return each(async (name) => {
    const mine = await call("GET", path(name, own[name]));
    if (mine.status === 400) return "400";
    const theirs = await call("GET", path(name, other[name]));
    const [seen, alsoSeen] = [mine, theirs].map(({ json }) => matched(json as never));
    if (!seen) return "no";
    if (!alsoSeen) return "own records";
    return (await call("GET", path(`${name}_like` as FieldName, "x"))).status === 400 ? "equality" : "shown";
  });
}

const DOORS: Readonly<Record<string, () => Promise<string[]>>> = {
  async "create, update"() {
    const values = canariesOf();
    const { json } = await call("POST", "", { name: "New", ...values });
    const created = await rowOf(json.id);
    const changes = canariesOf();
    await call("PATCH", `/${json.id}`, changes);
    const updated = await rowOf(json.id);
    return each(async (name) => {
      const [first, second] = [storedAs(created, name, values[name]), storedAs(updated, name, changes[name])];
      return first === second ? first : `${first}, ${second}`;
    });
  },
  async "read, list"() {
    const { id } = await twoRecords();
    const read = [await call("GET", "/ann"), await call("GET", `/${id}`)].map(({ json }) => json);
    const { json: listed } = await call("GET", "?_sort=name");
    return each(async (name) => {
      const [first, second] = [shownAs(name, read[0], read[1]), shownAs(name, listed[0], listed[1])];
      return first === second ? first : `${first}, ${second}`;
    });
  },
  filter: () =>
    filtered(
      (name, value) => `?${name}=${value}`,
      (json: unknown[]) => json.length > 0,
    ),
  count: () =>
    filtered(
      (name, value) => `/count?${name}=${value}`,
      ({ count }: { count: number }) => count > 0,
    ),
  sort: () => each(async (name) => String((await call("GET", `?_sort=${name}`)).status)),
  async "search (`q=`)"() {
    const { own, other } = await twoRecords();
    return each(async (name) => {
      const [mine, theirs] = [await call("GET", `?q=${own[name]}`), await call("GET", `?q=${other[name]}`)];
      const found = [mine, theirs].map(({ json }) => json.length > 0);
      return found[0] ? (found[1] ? "yes" : "own records") : "no";
    });
  },
  async "`select`"() {
    const { id } = await twoRecords();
    return each(async (name) => {
      const [mine, theirs] = [await call("GET", `/ann?select=${name}`), await call("GET", `/${id}?select=${name}`)];
      return mine.status === 400 ? "400" : shownAs(name, mine.json, theirs.json);
    });
  },
  async export() {
    await twoRecords();
    const { json } = await call("GET", "/export?_sort=name");
    return each(async (name) => shownAs(name, json[0], json[1]));
  },
  async import() {
    const values = canariesOf();
    await call("POST", "/import", [{ name: "Imported", ...values }]);
    const row = (await base.findOne("person", { name: "Imported" })) as Values;
    return each(async (name) => storedAs(row, name, values[name]));
  },
  async clone() {
    const { own, other, id } = await twoRecords();
    const copies = [await call("POST", "/ann/clone"), await call("POST", `/${id}/clone`)];
    const rows = await Promise.all(copies.map(({ json }) => rowOf(json.id)));
    expect([own.iban, other.iban]).not.toContain(rows[0]?.iban);
    return each(async (name) => {
      const word = shownAs(name, rows[0] as Values, rows[1] as Values);
      return word === "shown" ? "copied" : word === "absent" ? "left out" : word;
    });
  },
  async "bulk update"() {
    return each(async (name) => {
      await twoRecords();
      const values = canariesOf();
      const { status } = await call("PUT", "/bulk", { ids: ["ann"], data: { [name]: values[name] } });
      return status === 200 ? storedAs(await rowOf("ann"), name, values[name]) : String(status);
    });
  },
  async "record returned by a handler"() {
    const { id } = await twoRecords();
    const [own, other] = [await call("GET", "/ann/whole"), await call("GET", `/${id}/whole`)];
    return each(async (name) => shownAs(name, own.json, other.json));
  },
  async "errors, log"() {
    const values = canariesOf();
    for (const name of FIELDS) {
      const long = `${values[name]}${"x".repeat(1_100)}`;
      expect((await call("POST", "", { name: "Long", [name]: long })).status).toBe(400);
      expect((await call("POST", "", { name: "Wrong", [name]: [values[name]] })).status).toBe(400);
    }
    const said = [...lines, ...answers].join("\n");
    return each(async (name) => (said.includes(`canary-${name}`) ? "?" : "never"));
  },
  async "journal of workflows"() {
    const values = canariesOf();
    expect((await call("POST", "/enrol", { name: "Enrolled", ...values })).status).toBe(200);
    const rows = [...(await base.findMany("workflowRun")), ...(await base.findMany("workflowStep"))];
    const journal = JSON.stringify(rows);
    expect(rows.every(({ data }) => data === null || String(data).startsWith("v1:"))).toBe(true);
    expect(canaries.filter((canary) => journal.includes(canary))).toEqual([]);
    return each(async (name) => (name === "password" ? "never" : "encrypted"));
  },
};

beforeAll(async () => {
  for (const level of ["log", "info", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation((...args) => void lines.push(args.join(" ")));
  page = openPage("concepts/field-security");
  const loaded = await page.load<{ createApi(key: string): Keelson; driver: Driver }>("people.ts");
  api = loaded.createApi(generateEncryptionKey());
  base = loaded.driver;
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  page.remove();
  vi.restoreAllMocks();
});

describe("docs/concepts/field-security.md", () => {
  it("has exactly the entry points that are tested here", () => {
    expect(
      tableBelow(page.text, "Every door")
        .map(([door]) => door)
        .sort(),
    ).toEqual(Object.keys(DOORS).sort());
  });

  for (const [door, words] of Object.entries(DOORS))
    it(`describes the entry point “${door}”`, async () => {
      const row = tableBelow(page.text, "Every door").find(([name]) => name === door);
      expect(await words()).toEqual(row?.slice(1));
    });

  it("describes what code sees", async () => {
    const { own, id } = await twoRecords({ password: "a long enough one" });
    const rows = new Map(tableBelow(page.text, "In code").map(([where, ...words]) => [where as string, words]));
    const getters = [api.asSystem(), api.as({ id: "ann" })] as unknown as Record<
      "person",
      { get(id: string): Promise<Values> }
    >[];
    const [asSystem, asAnn] = await Promise.all(
      getters.map(({ person }) => Promise.all([person.get("ann"), person.get(id)])),
    );
    const word = (name: FieldName, [mine, theirs]: readonly [Values, Values]) => {
      const shown = shownAs(name, mine, theirs);
      if (shown !== "shown") return shown;
      const value = String(mine[name]);
      return value.startsWith("v1:") ? "ciphertext" : value.startsWith("$pbkdf2$") ? "hash" : "clear";
    };
    const wordsOf = (records: unknown) => FIELDS.map((name) => word(name, records as [Values, Values]));
    expect(wordsOf(asSystem)).toEqual(rows.get("`api.asSystem()`"));
    expect(wordsOf(asAnn)).toEqual(rows.get("`api.as(user)`"));
    expect(wordsOf([await rowOf("ann"), await rowOf(id)])).toEqual(rows.get("`api.driver`, `unsafeDriver`"));

    const given = { token: "root", body: { token: own.token } };
    const { json } = await request(url, "POST", "/api/people/ann/device", given);
    expect([json.isKnown, json.isHashed]).toEqual([true, true]);
    const inHandlers = FIELDS.map((name) =>
      json.shown.includes(name) ? "clear" : name === "password" ? "hash, hidden" : "hidden",
    );
    expect(inHandlers).toEqual(rows.get("a handler's `driver`"));
  });

  it("drops and names fields that a caller may not write", async () => {
    const { status, json, headers } = await call("POST", "", { name: "Graded", grade: "high" });
    expect([status, json.grade, headers.get("x-ignored-fields")]).toEqual([201, "new", "grade"]);
  });

  it("lists the options of the plugin", () => {
    const file = "src/plugins/field-security/index.ts";
    expect(columnOf(page.text, "Options")).toEqual(membersOf(file, "FieldSecurityOptions"));
  });
});
