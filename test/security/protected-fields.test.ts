import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AnyEntity, memoryDriver, noopLogger } from "../../src/index.ts";
import { clientsOf, createProtectedApp, type ProtectedApp, seedProtected } from "../support/protected/app.ts";
import { createCanaries } from "../support/protected/canaries.ts";
import { protectedEntities } from "../support/protected/entities.ts";
import { RAW_DATABASES, type RawDatabase } from "../support/protected/raw-database.ts";
import { RIGHTS, withheld } from "../support/protected/rights.ts";
import { CALLERS, type CallerName, USERS } from "../support/protected/truth.ts";
import { withoutFields } from "../support/protected/twin.ts";
import { amount, oneOf, someOf } from "../support/suite.ts";

const OPERATORS = ["", "_ne", "_gt", "_gte", "_lt", "_lte", "_in", "_nin", "_like", "_starts", "_ends", "_null"];
const callers = Object.keys(CALLERS) as CallerName[];
const definitions: readonly AnyEntity[] = protectedEntities.map((one) => one.build());
const PATHS: Readonly<Record<string, string>> = { person: "people", note: "notes", vault: "vaults", badge: "badges" };
/** Ways to query an entity: its list, and the relation that leads to it. */
const THROUGH: Readonly<Record<string, readonly (readonly [list: string, relation: string])[]>> = {
  person: [
    ["people", "boss"],
    ["people", "reports"],
    ["people", "friends"],
    ["notes", "author"],
    ["notes", "viewers"],
    ["badges", "holder"],
    ["vaults", "holder"],
  ],
  note: [["people", "notes"]],
  vault: [["people", "vaults"]],
  badge: [["people", "badge"]],
};
/** Keys next to a field's name in a `where`. */
const CONDITIONS: readonly unknown[] = [
  ...["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "starts", "ends", "null", "zzz"].flatMap((operator) =>
    ["a", 1, true, null, ["a"], [1], {}].map((value) => ({ [operator]: value })),
  ),
  ...["a", 1, null, [], ["a"], {}, { deep: {} }, new Date()],
];

describe("rights", () => {
  it("are written down for every protected field, and every column of a blind index", () => {
    for (const { name, columns, fields, rules } of definitions) {
      const isProtected = (field: string): boolean => {
        const { role } = columns[field] ?? expect.fail(field);
        const { omit, password, encrypted, readable } = fields[field] ?? {};
        return (
          role === "blindIndex" || Boolean(omit || password || encrypted || readable || rules?.read?.[0] === "admin")
        );
      };
      const names = Object.keys(columns).filter((field) => (fields[field] || columns[field]?.of) && isProtected(field));
      expect(Object.keys(RIGHTS[name] ?? {}).sort()).toEqual(names.sort());
    }
  });
});

/** A response without the parts that differ between requests. */
async function answer(app: ProtectedApp, caller: CallerName, path: string): Promise<string> {
  const { status, headers, body } = await app.as(CALLERS[caller]).request("GET", `/api/${path}`);
  headers.delete("x-request-id");
  const { requestId: _, ...rest } = body as Record<string, unknown>;
  return JSON.stringify([status, [...headers], Array.isArray(body) ? body : rest]);
}

describe.each(callers)("a field that %s may not know", (caller) => {
  const rights = { f: "filtered on", s: "sorted by", r: "selected" } as const;
  const queries: Readonly<Record<keyof typeof rights, (name: string, entity: string) => string[]>> = {
    f: (name, entity) =>
      ["a", "1", "true", "", "2077-01-01", "a,b", "%24pbkdf2%24"].flatMap((value) =>
        OPERATORS.flatMap((operator) => {
          const condition = `${name}${operator}=${value}`;
          return [
            `${PATHS[entity]}?${condition}`,
            ...(THROUGH[entity] ?? []).map(([list, relation]) => `${list}?${relation}.${condition}`),
          ];
        }),
      ),
    s: (name, entity) => {
      const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString("base64url");
      const list = PATHS[entity];
      return [
        `${list}?_sort=${name}`,
        `${list}?_sort=-${name}&_limit=1`,
        `${list}?_sort=id,${name}&_order=asc,desc`,
        `${list}?_sort=${name}&_after=${cursor(`${name},id`, "a", "b")}`,
        `${list}?_after=${cursor(`${name},id`, "a", "b")}`,
      ];
    },
    r: (name, entity) => {
      const list = PATHS[entity];
      const paths = [`${list}`, `${list}/ann`, `${list}/${entity}-ann`];
      const includes = (THROUGH[entity] ?? []).map(([from, relation]) => `${from}?include=${relation}.${name}`);
      const own = ["select=", "select=id,", "include=", "_embed="].flatMap((parameter) =>
        paths.map((path) => `${path}?${parameter}${name}`),
      );
      return [...own, ...includes];
    },
  };

  it.each(Object.keys(rights) as (keyof typeof rights)[])("is refused like an unknown name: %s", async (right) => {
    const app = createProtectedApp(memoryDriver(), noopLogger);
    const twins = definitions.map((one) => withoutFields(one, new Set(withheld(one.name, caller, right))));
    const twin = createProtectedApp(memoryDriver(), noopLogger, twins);
    const all = definitions.flatMap(({ name: entity }) =>
      withheld(entity, caller, right).flatMap((name) => queries[right](name, entity)),
    );
    const asked = someOf(all, 100);
    expect(asked.length).toBeGreaterThan(30);
    for (const path of asked) {
      const said = await answer(app, caller, path);
      expect(said, path).toBe(await answer(twin, caller, path));
      expect(said, path).toMatch(/^\[(400|401|403),/);
    }
    await Promise.all([app.close(), twin.close()]);
  });

  it("is refused by the in-process client like an unknown name", async () => {
    if (caller === "anonymous") return expect(CALLERS[caller]).toBeNull(); // there is no client for anonymous callers
    const app = createProtectedApp(memoryDriver(), noopLogger);
    const twins = definitions.map((one) => withoutFields(one, new Set(withheld(one.name, caller, "f"))));
    const twin = createProtectedApp(memoryDriver(), noopLogger, twins);
    const relations: Readonly<Record<string, string>> = {
      person: "author",
      note: "notes",
      vault: "vaults",
      badge: "badge",
    };
    let count = 0;
    for (const { name: entity } of definitions)
      for (const name of withheld(entity, caller, "f"))
        for (const condition of someOf(CONDITIONS, 6)) {
          const where = { [name]: condition };
          const wheres = [where, { NOT: where }, { OR: [{ id: "a" }, where] }, { AND: [{ NOT: [where] }] }];
          const from = entity === "person" ? "note" : "person";
          const through = wheres.map((inner) => ({ [String(relations[entity])]: inner }));
          for (const [list, each] of [
            [entity, wheres],
            [from, through],
          ] as const)
            for (const one of each) {
              const said = await Promise.all(
                [app, twin].map((either) =>
                  clientsOf(either, caller)
                    [list]?.list({ where: one })
                    .catch(({ status, message }) => [status, message]),
                ),
              );
              count++;
              expect({ one, said: said[0] }).toEqual({ one, said: said[1] });
              expect([400, 403]).toContain((said[0] as unknown as unknown[])[0]);
            }
        }
    expect(count).toBeGreaterThan(amount(50, 1_000));
    await Promise.all([app.close(), twin.close()]);
  });

  it("is refused in a body if it is the column of a blind index", async () => {
    const app = createProtectedApp(memoryDriver(), noopLogger);
    const twin = createProtectedApp(
      memoryDriver(),
      noopLogger,
      definitions.map((one) => withoutFields(one, new Set())),
    );
    for (const name of ["ssnBidx", "ownSecretBidx"]) {
      const said = await Promise.all(
        [app, twin].map(async (either) => {
          const { status, body } = await either.as(CALLERS[caller]).request("POST", "/api/people", { [name]: "x" });
          return [status, (body as { errors: unknown }).errors];
        }),
      );
      expect(said[0]).toEqual(said[1]);
      expect(said[0]).toMatchObject([400, { [name]: expect.stringMatching(/^is not a field/) }]);
    }
    await Promise.all([app.close(), twin.close()]);
  });
});

describe.each(RAW_DATABASES)("protected fields on %s", (_name, open) => {
  let database: RawDatabase;
  let app: ProtectedApp;
  const canaries = createCanaries();

  beforeAll(async () => {
    database = await open();
    app = createProtectedApp(database.driver(), noopLogger);
    await app.api.ready;
    await seedProtected(app, canaries);
    // A record whose optional fields are empty.
    await clientsOf(app, "system").person?.create({
      ...{ id: "zoe", name: "zoe", password: "long enough", apiToken: "t", recovery: "r", ssn: "000-00" },
    } as never);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const idsOf = async (caller: CallerName, path: string): Promise<string[] | number> => {
    const { status, headers, body } = await app.as(CALLERS[caller]).request("GET", `/api/${path}`);
    if (status !== 200) return status;
    expect(headers.get("x-total-count")).toBe(String((body as unknown[]).length));
    return (body as { id: string }[]).map(({ id }) => id).sort();
  };
  /** The value of a field of some record. */
  const canaryOf = (field: string, owner: string): string =>
    canaries.all.find((one) => one.entity === "person" && one.field === field && one.facts.owner === owner)?.text ??
    expect.fail(field);
  const people = [...USERS, "zoe"].sort();

  it.each(["ssn", "accountNumber"])(
    "an encrypted field with a blind index, %s, is found by equality only",
    async (name) => {
      const ann = canaryOf(name, "ann");
      const bob = canaryOf(name, "bob");
      const empty = name === "ssn" ? [] : ["zoe"];
      const truth: Readonly<Record<string, readonly string[]>> = {
        [`${name}=${ann}`]: ["ann"],
        [`${name}=${ann}&${name}=${bob}`]: ["ann", "bob"],
        [`${name}_in=${ann},${bob},1`]: ["ann", "bob"],
        [`${name}_nin=${ann}`]: people.filter((id) => id !== "ann"),
        [`${name}_ne=${ann}`]: people.filter((id) => id !== "ann"),
        [`${name}_ne=${ann}&${name}_ne=${bob}`]: [],
        [`${name}_null=true`]: empty,
        [`${name}_null=false`]: people.filter((id) => !empty.includes(id)),
        [`boss.${name}=${ann}`]: ["root"],
        [`friends.${name}=${ann}`]: ["bob", "root"],
      };
      for (const caller of callers)
        for (const [query, expected] of Object.entries(truth)) {
          const isTwice = query.split("_ne=").length > 2;
          expect(await idsOf(caller, `people?${query}`), query).toEqual(isTwice ? 400 : expected);
        }
      for (const operator of ["_gt", "_gte", "_lt", "_lte", "_like", "_starts", "_ends"]) {
        const { status, body } = await app.as(CALLERS.root).request("GET", `/api/people?${name}${operator}=${ann}`);
        expect([status, (body as { message: string }).message]).toEqual([
          400,
          `"${name}${operator}" cannot be used; operators on "${name}" are _ne _in _nin _null.`,
        ]);
      }
    },
  );

  it("a field that only some records show is compared with those records only", async () => {
    const salaries = USERS.map((id) => Number(canaryOf("salary", id)));
    const values = salaries.flatMap((salary) => [salary - 1, salary, salary + 1]);
    const comparisons: Readonly<Record<string, string>> = { "": "=", _gt: ">", _gte: ">=", _lt: "<", _lte: "<=" };
    for (const caller of callers) {
      const visible = { anonymous: "1 = 0", ann: `"id" = 'ann'`, bob: `"id" = 'bob'`, root: "1 = 1" }[caller];
      const inSql = async (condition: string): Promise<string[]> =>
        (await database.query(`SELECT "id" FROM "person" WHERE ${visible} AND (${condition}) ORDER BY "id"`)).map(
          ({ id }) => String(id),
        );
      for (const value of values) {
        for (const [operator, sign] of Object.entries(comparisons)) {
          const expected = caller === "anonymous" ? 400 : await inSql(`"salary" ${sign} ${value}`);
          expect(await idsOf(caller, `people?salary${operator}=${value}`)).toEqual(expected);
        }
        const unequal = caller === "anonymous" ? 400 : await inSql(`"salary" IS NULL OR "salary" <> ${value}`);
        expect(await idsOf(caller, `people?salary_ne=${value}`)).toEqual(unequal);
        expect(await idsOf(caller, `people?salary_nin=${value},1`)).toEqual(unequal);
      }
      for (const [flag, sql] of [
        ["true", "IS NULL"],
        ["false", "IS NOT NULL"],
      ])
        expect(await idsOf(caller, `people?salary_null=${flag}`)).toEqual(
          caller === "anonymous" ? 400 : await inSql(`"salary" ${sql}`),
        );
    }
  });

  it("a field that only some records show is found through relations on those only", async () => {
    for (const owner of USERS)
      for (const caller of USERS) {
        const isShown = caller === owner || caller === "root";
        const found = isShown ? people.filter((id) => BOSSES[id] === owner) : [];
        expect(await idsOf(caller, `people?boss.salary=${canaryOf("salary", owner)}`)).toEqual(found);
        expect(await idsOf(caller, `notes?author.salary_gte=${canaryOf("salary", owner)}&authorId=${owner}`)).toEqual(
          isShown ? [`note-${owner}`] : [],
        );
      }
  });

  it("a text search reads only fields that the caller may read", async () => {
    const texts = canaries.all.filter(({ entity }) => entity === "person");
    for (const caller of callers)
      for (const [index, { text, field, facts }] of texts.entries()) {
        const isFilterable = RIGHTS.person?.[field]?.[caller].includes("f") === true;
        const isText = ["adminNote", "ownNote", "hrNote"].includes(field);
        const isOwn = field === "ownNote" ? facts.owner === caller : true;
        const found = isFilterable && isText && isOwn ? [facts.owner] : [];
        for (const q of oneOf(index + callers.indexOf(caller), [text, text.slice(0, -1), text.toUpperCase()]))
          expect(await idsOf(caller, `people?q=${q}`), `${caller} ${field}`).toEqual(found);
      }
  });

  it("a change of a hidden value changes no response", async () => {
    const asked = (): string[] => {
      const fields = Object.keys(RIGHTS.person ?? {});
      const sorts = [...fields, "name", "id"].flatMap((name) => [`_sort=${name}`, `_sort=-${name}&_limit=2`]);
      const conditions = fields.flatMap((name) =>
        OPERATORS.flatMap((operator) =>
          ["1", "770000050", "cnry", "true"].flatMap((value) => [
            `${name}${operator}=${value}`,
            `boss.${name}${operator}=${value}`,
          ]),
        ),
      );
      return [...sorts, ...someOf(conditions, 40), "q=cnry", "q=7700", "include=boss,reports,friends,badge", ""];
    };
    const ask = async (caller: CallerName): Promise<string[]> => {
      const answers: string[] = [];
      for (const query of asked()) answers.push(`${query} ${await answer(app, caller, `people?${query}`)}`);
      return answers;
    };
    const setClock = (): Promise<unknown> =>
      database.query(`UPDATE "person" SET "updatedAt" = "createdAt" WHERE "id" IS NOT NULL`);
    await setClock();
    const before = { ann: await ask("ann"), anonymous: await ask("anonymous") };
    const system = clientsOf(app, "system");
    for (const id of ["bob", "root", "zoe"])
      await system.person?.update(id, {
        password: `another password of ${id}`,
        apiToken: `another token of ${id}`,
        recovery: "another recovery",
        adminNote: "cnry another",
        adminSecret: "1",
        salary: 770_000_049,
        ownNote: "cnry too",
        ownSecret: "cnry",
        hrNote: "cnry again",
        nobodysNote: "cnry",
        ...(id === "root" ? {} : { mentorNote: "cnry last" }), // ann is the mentor of root
      } as never);
    await setClock();
    const after = { ann: await ask("ann"), anonymous: await ask("anonymous") };
    for (const caller of ["ann", "anonymous"] as const)
      expect(after[caller].filter((said, index) => said !== before[caller][index])).toEqual([]);
    // Proves that permitted callers do see something.
    expect(await idsOf("root", "people?salary=770000049")).toEqual(["bob", "root", "zoe"]);
  });
});

const BOSSES: Readonly<Record<string, string | undefined>> = { ann: "bob", bob: "root", root: "ann" };
