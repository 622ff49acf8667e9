import { describe, expect, it } from "vitest";
import { type Asked, advisory, attackedApp } from "../../support/attacks/advisory.ts";
import { MOST_PER_PAGE } from "../../support/attacks/attacked-app.ts";
import { sendAs } from "../../support/attacks/send-as.ts";

// Advisories of other systems about queries: filters, sorts, cursors, pages, and who may query what. Each exploit is
// rebuilt in Keelson's syntax.

const app = attackedApp();
const get = (path: string, as: Asked[0] = "anonymous"): Asked => [as, "GET", path];
const encoded = (value: unknown): string => encodeURIComponent(JSON.stringify(value));
const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString("base64url");

describe("hidden fields in filters", () => {
  advisory("GHSA-jjqf-j4w7-92w8 (CVE-2023-22894) a reset token is read by filters, without an account", app, {
    exploits: ["", "_starts", "_like", "_ends", "_gt", "_in", "_ne"].flatMap((operator) => [
      get(`/api/people?apiToken${operator}=c`),
      get(`/api/people/count?apiToken${operator}=c`),
    ]),
    neighbours: [get("/api/people?name_starts=bob"), get("/api/people/count?department=hr")],
  });

  advisory("GHSA-35jj-vqcf-f2jf (CVE-2023-30843) fields that may not be read are filtered on", app, {
    exploits: [
      get("/api/people?adminNote_starts=c"),
      get("/api/people?adminNote_starts=c", "ann"),
      get("/api/badges?serial_gte=1", "bob"),
      get("/api/notes?author.adminNote_like=c", "ann"),
    ],
    neighbours: [get("/api/people?adminNote_starts=c", "root"), get("/api/badges?serial_gte=1", "root")],
  });

  advisory("GHSA-m5q3-8wgf-x8xf (CVE-2023-27481) hashes are compared by the filters of an export", app, {
    exploits: ["json", "csv", "ndjson"].flatMap((format) => [
      get(`/api/people/export?format=${format}&password_starts=%24pbkdf2%24`, "root"),
      get(`/api/people/export?format=${format}&select=password`, "root"),
      get(`/api/people/export?format=${format}&_sort=password`, "root"),
    ]),
    neighbours: [get("/api/people/export?format=csv&name_starts=bob"), get("/api/accounts/export", "root")],
  });
});

describe("bypasses of the first fix", () => {
  advisory("GHSA-9xg4-3qfm-9w8f (CVE-2023-34235) the alias of a table before the name of a hidden field", app, {
    exploits: ["t0", "t1", "person", "people", "boss.t1", "main"].flatMap((alias) => [
      get(`/api/people?${alias}.password_starts=%24`),
      get(`/api/people?_sort=${alias}.password`),
      get(`/api/people?select=${alias}.password`),
    ]),
    neighbours: [get("/api/people?boss.name_starts=b"), get("/api/people?_sort=-name")],
  });

  advisory("GHSA-rjg2-95x7-8qmx (CVE-2026-27886) a parameter nobody knows reaches the query, and totals tell", app, {
    exploits: [
      get("/api/people?where[password][startsWith]=%24"),
      get(`/api/people?where=${encoded({ password: { startsWith: "$" } })}`),
      get("/api/people?_where[reports][password][startsWith]=%24"),
      get("/api/people?_limit=1&where[apiToken]=x"),
      get("/api/people/count?where[apiToken][startsWith]=c"),
    ],
    neighbours: [get("/api/people?_=1700000000&_limit=1")],
  });

  advisory("CVE-2025-30086 filters are refused by their head, and accepted with a longer one", app, {
    exploits: [
      get("/api/people?boss.password=x"),
      get("/api/people?boss.boss.password=x"),
      get("/api/people?reports.notes.token=x"),
      get("/api/people?password__startswith=x"),
      get("/api/people?Password=x"),
      get("/api/people?password.=x"),
      get("/api/people?.password=x"),
      get("/api/people?password%20=x"),
      get("/api/people?q=~password=x&password=x"),
    ],
    neighbours: [get("/api/people?boss.name=x"), get("/api/people?q=~password=x")],
  });
});

describe("nested and other notations", () => {
  advisory("GHSA-72hp-qff8-4pvv a hidden field inside an or", app, {
    exploits: [
      get("/api/people?OR[0][password]=x"),
      get("/api/people?$or[0][password]=x"),
      get(`/api/people?OR=${encoded([{ password: "x" }])}`),
      get("/api/people?NOT[password]=x"),
      get("/api/people?AND[0][OR][0][password]=x"),
    ],
    neighbours: [get("/api/people?name=x&name=y")],
  });

  advisory("GHSA-r2m8-pxm9-9c4g a path with dots into a field, in a filter and in an order", app, {
    exploits: [
      get("/api/people?answers.deep=x"),
      get("/api/people?answers[0][down]=x"),
      get("/api/people?_sort=answers.deep"),
      get("/api/people?_sort=boss.salary", "ann"),
      get("/api/people?password.length=1"),
      get("/api/people?select=answers.deep"),
    ],
    neighbours: [get("/api/people?select=answers"), get("/api/people?boss.department=hr")],
  });

  advisory("GHSA-mmg8-87c5-jrc2 an object that looks like a list in place of one", app, {
    exploits: [
      get(`/api/people?$or=${encoded({ 0: { password: "x" }, length: 1 })}`),
      get("/api/people?OR[0][password]=x&OR[length]=1"),
      [
        "ann",
        "POST",
        "/api/letters/bulk-update",
        { body: { ids: { 0: "letter-bob", length: 1 }, data: { body: "x" } } },
      ],
      ["ann", "POST", "/api/letters/bulk-delete", { body: { ids: { 0: "letter-bob", length: 1 } } }],
    ],
    neighbours: [
      ["ann", "POST", "/api/letters/bulk-update", { body: { ids: ["letter-ann"], data: { pinned: true } } }],
    ],
  });

  describe("GHSA-mmg8-87c5-jrc2 the same in the process", () => {
    it("is refused", async () => {
      const people = (
        app().api.as({ id: "ann" }) as unknown as Record<string, { list(query: object): Promise<unknown> }>
      ).person;
      for (const where of [
        { OR: { 0: { password: "x" }, length: 1 } },
        { OR: [{ name: "x" }, { password: { starts: "$" } }] },
        { NOT: { boss: { apiToken: "x" } } },
        JSON.parse('{"__proto__":{"password":"x"}}'),
        { id: undefined },
      ])
        await expect(people?.list({ where })).rejects.toMatchObject({ status: 400 });
      await expect(people?.list({ where: { OR: [{ name: "x" }, { id: "ann" }] } })).resolves.toMatchObject({
        total: 1,
      });
    });
  });
});

describe("another clause", () => {
  advisory("GHSA-hg9m-67mm-7pg3 the condition of an update or a delete filters on what a list may not", app, {
    exploits: [
      ["ann", "PATCH", "/api/people/ann?password_starts=%24", { body: {} }],
      ["ann", "PUT", "/api/people/ann?where[apiToken]=x", { body: {} }],
      ["root", "DELETE", "/api/people/bob?password_starts=%24"],
      ["ann", "PUT", "/api/people/bulk", { body: { where: { password: { starts: "$" } }, data: { name: "x" } } }],
      ["ann", "PUT", "/api/people/bulk", { body: { ids: ["ann"], where: { apiToken: "x" }, data: { name: "x" } } }],
      ["ann", "POST", "/api/people/import?upsertBy=apiToken", { body: [{ apiToken: "x" }] }],
    ],
    neighbours: [["ann", "PATCH", "/api/people/ann", { body: { department: "other" } }]],
  });

  advisory("GHSA-cgcg-q9jh-5pr2 a cursor names a field that may not be filtered on", app, {
    exploits: ["password", "apiToken", "ssn", "ssnBidx", "salary", "diary"].flatMap((field) => [
      get(`/api/people?_after=${cursor(`${field},id`, "m", "m")}`),
      get(`/api/people?_sort=${field}&_after=${cursor(`${field},id`, "m", "m")}`),
      get(`/api/people?cursor[${field}]=m`),
    ]),
    neighbours: [get(`/api/people?_sort=name&_after=${cursor("name,id", "a", "a")}`)],
  });

  describe("GHSA-8jpw-gpr4-8cmh a search reads hidden columns, and its hits reveal them", () => {
    it("finds nothing by fields that the caller may not read", async () => {
      for (const canary of app().canaries.all.filter(({ entity }) => entity === "person")) {
        if (["salary", "accountNumber"].includes(canary.field)) continue;
        for (const q of [canary.text, canary.text.slice(0, 9)]) {
          const { status, json, headers } = await sendAs(app(), "anonymous", "GET", `/api/people?q=${q}`);
          expect([status, json, headers.get("x-total-count")], canary.field).toEqual([200, [], "0"]);
        }
      }
    });

    it("does not affect legitimate requests", async () => {
      const note = app().canaries.all.find(({ field, facts }) => field === "adminNote" && facts.owner === "bob");
      const { json } = await sendAs(app(), "root", "GET", `/api/people?q=${note?.text}`);
      expect(json).toMatchObject([{ id: "bob" }]);
    });
  });

  advisory("elttam, plORMbing your ORM: a value is found by greater and less where startsWith is forbidden", app, {
    exploits: ["_gt", "_gte", "_lt", "_lte", "_in", "_nin", "_ne", "_null"].flatMap((operator) => [
      get(`/api/people?password${operator}=%24m`),
      get(`/api/people?diary${operator === "_null" ? "_gt" : operator}=m`),
      get(`/api/people?ssn${["_in", "_nin", "_ne", "_null"].includes(operator) ? "_gt" : operator}=m`),
      get(`/api/badges?holder.recovery${operator}=m`),
    ]),
    neighbours: [get("/api/people?name_gte=a&name_lt=c"), get("/api/people?ssn=m")],
  });

  advisory("elttam, plORMbing your ORM: an object where a text is expected becomes a condition", app, {
    exploits: [
      get("/api/people?ssn[not]=E"),
      get("/api/people?ssn[]=E"),
      get("/api/people?name[contains]=b"),
      ["anonymous", "POST", "/api/accounts", { body: { email: { not: "E" }, password: "long enough" } }],
      ["ann", "POST", "/api/attachments", { body: { name: "x", letterId: { not: "E" } } }],
      ["ann", "PATCH", "/api/people/ann", { body: { name: { set: "x" } } }],
      ["ann", "POST", "/api/letters/letter-ann/rewrite", { body: { text: { not: "E" } } }],
      ["ann", "POST", "/api/letters/bulk-delete", { body: { ids: [{ not: "E" }] } }],
    ],
    neighbours: [["ann", "POST", "/api/letters/letter-ann/rewrite", { body: { text: "E" } }]],
  });

  advisory("Strapi #4442 an empty object where a code is expected matches whoever is first", app, {
    exploits: [
      ["ann", "POST", "/api/letters/letter-ann/renew", { body: { pin: {}, text: "x" } }],
      ["ann", "POST", "/api/letters/letter-ann/renew", { body: { pin: [], text: "x" } }],
      ["ann", "POST", "/api/letters/letter-ann/renew", { body: { pin: null, text: "x" } }],
      ["ann", "PATCH", "/api/people/ann", { body: { ssn: {} } }],
      get("/api/people?ssn[$exists]=true"),
    ],
    neighbours: [["ann", "POST", "/api/letters/letter-ann/renew", { body: { pin: "a long pin", text: "x" } }]],
  });
});

describe("names that would be SQL", () => {
  advisory("GHSA-q3vj-96h2-gwvg the amount of an increment is pasted into a statement", app, {
    exploits: [
      ["root", "PATCH", "/api/accounts/account-ann", { body: { credit: { increment: "1; drop table account" } } }],
      ["root", "PATCH", "/api/accounts/account-ann", { body: { credit: { __op: "Increment", amount: "1) --" } } }],
      ["root", "PATCH", "/api/accounts/account-ann", { body: { credit: "1 + 1" } }],
    ],
    neighbours: [["root", "PATCH", "/api/accounts/account-ann", { body: { credit: 2 } }]],
  });

  advisory("GHSA-p2w6-rmh7-w8q3 the name of a field is pasted into a statement", app, {
    exploits: [
      ["ann", "PATCH", "/api/people/ann", { body: { 'name" = "x" --': "x" } }],
      ["ann", "POST", "/api/people/import", { raw: '"name"" --",ssn\nx,y\n', headers: { "content-type": "text/csv" } }],
      get(`/api/people?${encodeURIComponent('name" or 1=1 --')}=x`),
    ],
    neighbours: [["ann", "PATCH", "/api/people/ann", { body: { name: 'ann" = "x" --' } }]],
  });

  advisory("GHSA-7xxh-373w-35vg a path into JSON is pasted into a statement", app, {
    exploits: [
      get(`/api/people?answers.${encodeURIComponent("x' or 1=1 --")}=x`),
      get(`/api/people?answers[${encodeURIComponent("'$.x') or 1=1 --")}]=x`),
      get("/api/people?answers=x"),
    ],
    neighbours: [["ann", "PATCH", "/api/people/ann", { body: { answers: { "x' or 1=1 --": 1 } } }]],
  });

  advisory("CVE-2026-22599 the order of a list is pasted into a statement", app, {
    exploits: [
      "name;select 1",
      "name asc, (select 1)",
      "(case when 1=1 then name end)",
      'name"',
      "name nulls first",
    ].map((order) => get(`/api/people?_sort=${encodeURIComponent(order)}`)),
    neighbours: [get("/api/people?_sort=name,-department")],
  });
});

describe("GHSA-cqmq-8755-7xvh a negative page size removes the limit", () => {
  it.each(["-1", "-1000", "-0", "1e9", "9007199254740993", "0x7f", "1.5", "%2B99"])(
    "with %s is refused",
    async (size) => {
      for (const query of [`_limit=${size}`, `_start=0&_end=${size}`, `_limit=${size}&_page=1`, `take=${size}`]) {
        const { status, json } = await sendAs(app(), "ann", "GET", `/api/accounts?${query}`);
        expect(status === 400 || json.length <= MOST_PER_PAGE, `${query}: ${status}`).toBe(true);
      }
      expect((await sendAs(app(), "ann", "GET", `/api/accounts?_limit=${size}`)).status).toBe(400);
    },
  );

  it("does not affect legitimate requests", async () => {
    const { json, headers } = await sendAs(app(), "ann", "GET", `/api/accounts?_limit=${MOST_PER_PAGE}`);
    expect(json).toHaveLength(MOST_PER_PAGE);
    expect(Number(headers.get("x-total-count"))).toBeGreaterThan(MOST_PER_PAGE);
  });
});

describe("complexity", () => {
  const chain = (name: string, length: number): string => Array.from({ length }, () => name).join(".");

  advisory("GHSA-mfj6-6p54-m98c what measures how complex a query is costs more than the query", app, {
    exploits: [
      get(`/api/people?include=${chain("friends", 200)}`),
      get(`/api/people?${chain("boss", 200)}.name=x`),
      get(`/api/people?${Array.from({ length: 60 }, (_, i) => `boss.name_ne=${i}`).join("&")}`),
      get(`/api/people?include=${Array.from({ length: 60 }, () => "friends.friends,boss.friends").join()},zzz`),
      get(`/api/people?id_in=${Array.from({ length: 700 }, (_, i) => i).join()}`),
    ],
    neighbours: [get("/api/people?include=friends.friends.boss&boss.name_ne=x")],
  });

  advisory("GHSA-ph52-67fq-75wj one field asked for a thousand times, under as many names", app, {
    exploits: [
      get(`/api/people?${Array.from({ length: 300 }, (_, i) => `name_ne=${i}`).join("&")}`),
      get(`/api/people?select=${Array.from({ length: 300 }, (_, i) => `a${i}:name`).join()}`),
    ],
    neighbours: [get(`/api/people?select=${Array.from({ length: 300 }, () => "name").join()}`)],
  });

  advisory("GHSA-m95q-7qp3-xv42 (CVE-2023-4316) an address that a pattern never comes to an end with", app, {
    exploits: [
      `${"a".repeat(50_000)}@${"a.".repeat(10_000)}`,
      `${"a@".repeat(20_000)}`,
      `${"a.".repeat(50_000)}@host.example`,
      `a@${"a-".repeat(20_000)}.`,
    ].map((email): Asked => ["anonymous", "POST", "/api/accounts", { body: { email, password: "long enough" } }]),
    neighbours: [
      ["anonymous", "POST", "/api/accounts", { body: { email: "a.b-c@sub.host.example", password: "long enough" } }],
    ],
  });

  advisory("Parse Server, RegexVulnerabilities.spec: a pattern of the caller's is run by the database", app, {
    exploits: [
      get("/api/people?name[$regex]=(a%2B)%2B%24"),
      get("/api/people?name_regex=(a%2B)%2B%24"),
      get("/api/people?name_matches=(a%2B)%2B%24"),
      get("/api/people?name_similar=%25(a|b)%2B"),
    ],
    neighbours: [get("/api/people?name_like=(a%2B)%2B%24"), get("/api/people?name_like=.*")],
  });

  it("treats patterns and wildcards in a text as text", async () => {
    for (const text of ["(a%2B)%2B%24", ".*", "%25", "_", "%5E", "b.b", "b_b", "%5B%5Ea%5D"]) {
      const { json } = await sendAs(app(), "anonymous", "GET", `/api/people?name_like=${text}`);
      expect(json, text).toEqual([]);
    }
  });
});
