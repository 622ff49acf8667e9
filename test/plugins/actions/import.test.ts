import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, type Library, lines, openLibrary } from "./import-library.ts";

const JSON_TYPE = "application/json";
const NDJSON = "application/x-ndjson";

describe.each(Object.entries(databases))("an import on %s", (name, open) => {
  let library: Library;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const database = await open();
    remove = database.remove;
    library = await openLibrary(database.driver);
  });
  afterAll(async () => {
    await library.close();
    await remove();
  });

  const send: Library["send"] = (path, ...rest) => library.send(`/api/books${path}`, ...rest);
  const titled = async (prefix: string) =>
    (await library.api.asSystem().book.list({ where: { title: { starts: prefix } }, sort: ["id"], limit: 1000 })).data;
  const titles = async (prefix: string) => (await titled(prefix)).map(({ title }) => title);

  describe("reads", () => {
    const given = {
      title: 'Fmt, "quoted"\nand two lines é',
      edition: 2,
      price: 9.5,
      published: "2024-05-31T00:00:00.000Z",
      inStock: true,
      binding: "soft",
      blurb: "=1+1",
      extra: { pages: [1, { deep: null }] },
      shelfId: "hall",
    };

    it("CSV, a JSON array and lines of JSON as the same records", async () => {
      const of = (edition: number) => ({ ...given, edition });
      const csv = lines(
        "title,edition,price,published,inStock,binding,blurb,extra,shelfId,isbn",
        `"Fmt, ""quoted""\nand two lines é",3,9.5,2024-05-31,true,soft,'=1+1,"{""pages"":[1,{""deep"":null}]}",hall,`,
      );
      const bodies: [string, string][] = [
        ["text/csv; charset=utf-8", `\ufeff${csv}`],
        [JSON_TYPE, ` [\n${JSON.stringify(of(4))} ] `],
        [NDJSON, `\n${JSON.stringify(of(5))}\r\n\n`],
        ["application/jsonl", JSON.stringify(of(6))],
      ];
      for (const [type, body] of bodies)
        expect([type, (await send("/import", body, { type })).json]).toEqual([
          type,
          { created: 1, updated: 0, failed: [] },
        ]);
      const records = (await titled("Fmt")).map(({ id, createdAt, updatedAt, edition, ...record }) => record);
      expect(records).toHaveLength(4);
      expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(1);
      expect(records[0]).toMatchObject({ price: 9.5, blurb: "=1+1", extra: given.extra, ownerId: "ann", isbn: null });
    });

    it("an array, or any iterable of records, in the process", async () => {
      const { book } = library.api.as({ id: "ann" });
      expect(await book.import([{ title: "Process 1" }, { title: "P" }])).toEqual({
        created: 1,
        updated: 0,
        failed: [{ row: 2, errors: { title: "must be at least 2 characters" } }],
      });
      async function* later() {
        yield { title: "Process 2" };
      }
      expect(await book.import(later())).toMatchObject({ created: 1 });
      expect(await titles("Process")).toEqual(["Process 1", "Process 2"]);
      const message = "An import takes an array of records";
      for (const given of [undefined, null, {}, "title", 5] as never[])
        await expect(book.import(given)).rejects.toMatchObject({ status: 400, message });
    });

    it("cells by the kind of the field, and an empty cell as null", async () => {
      const body = lines(
        "title,edition,price,rank,inStock,published,extra",
        "Cells 1,,,,,,",
        "Cells 2,1.5,1e400,x,TRUE,2024-02-30,{",
        "Cells 3,-5,-0.25,,false,2024-05-31T12:00:00+02:00,-5",
      );
      const { json } = await send("/import", body, { as: "adm" });
      expect(json.created).toBe(2);
      expect(json.failed).toEqual([{ row: 2, errors: { extra: "must be JSON" } }]);
      const numbers = lines("title,edition,price,inStock,published", "Cells 4,1.5,1e400,TRUE,2024-02-30");
      expect(Object.keys((await send("/import", numbers)).json.failed[0].errors).sort()).toEqual(
        ["edition", "inStock", "price", "published"].sort(),
      );
      const [first, third] = await titled("Cells");
      expect(first).toMatchObject({ edition: 1, price: null, inStock: false, extra: null });
      expect(third).toMatchObject({ edition: -5, price: -0.25, extra: -5 });
      expect(third?.published).toEqual(new Date("2024-05-31T10:00:00Z"));
    });

    it("cells without the formula prefix of an export", async () => {
      const cells = ["'=x", "''-x", "'@x", "'x", "'", "-x", "'+", "'\tx", "'＝x"];
      await send("/import", lines("title,blurb", ...cells.map((cell, i) => `Quote ${i},${cell}`)));
      expect((await titled("Quote")).map(({ blurb }) => blurb)).toEqual([
        "=x",
        "'-x",
        "@x",
        "'x",
        "'",
        "-x",
        "+",
        "\tx",
        "＝x",
      ]);
    });

    it("an empty quoted cell as an empty text if the field allows it, else as null", async () => {
      const body = lines(
        "title,isbn,blurb,price,binding,shelfId",
        'Quoted 1,"","","","",""',
        "Quoted 2,,,,,",
        '"Quoted 3","","a","1","soft","hall"',
        '"Quoted, ""4""",,"","",,""',
        'Quoted 5,,"a "","" b",,,',
      );
      expect((await send("/import", body)).json).toEqual({ created: 5, updated: 0, failed: [] });
      const cells = (await titled("Quoted")).map(({ title, isbn, blurb, price, binding, shelfId }) => [
        title,
        isbn,
        blurb,
        price,
        binding,
        shelfId,
      ]);
      expect(cells.sort()).toEqual([
        ["Quoted 1", null, "", null, null, null],
        ["Quoted 2", null, null, null, null, null],
        ["Quoted 3", null, "a", 1, "soft", "hall"],
        ["Quoted 5", null, 'a "," b', null, null, null],
        ['Quoted, "4"', null, "", null, null, null],
      ]);
    });

    it("links from JSON and from cells that contain JSON", async () => {
      await send("/import", JSON.stringify([{ title: "Links 1", tagsIds: ["old"] }]), { type: JSON_TYPE });
      const body = lines(
        "title,tagsIds",
        'Links 2,"[""old"",""new""]"',
        'Links 3,"[""none""]"',
        "Links 4,old",
        "Links 5,",
      );
      const { json } = await send("/import", body);
      expect(json.failed.map(({ row, errors }: never) => [row, errors])).toEqual([
        [2, { tagsIds: 'tag "none" does not exist' }],
        [3, { tagsIds: "must be JSON" }],
      ]);
      const { data } = await library.api.asSystem().book.list({
        where: { title: { starts: "Links" } },
        sort: ["id"],
        include: ["tags"],
      });
      expect(data.map(({ tags }) => tags.map(({ id }) => id).sort())).toEqual([["old"], ["new", "old"], []]);
    });

    it("the output of an export, in every format", async () => {
      await send(
        "/import",
        lines("title,edition,blurb,price", "Trip 1,7,'=sum(),-5", '"Trip ""2""",8,,', "Trip 3,,-,0"),
      );
      const plain = ({ id, createdAt, updatedAt, ...rest }: Record<string, unknown>) => rest;
      const before = (await titled("Trip")).map(plain);
      for (const [format, type] of [
        ["json", JSON_TYPE],
        ["csv", "text/csv"],
        ["ndjson", NDJSON],
      ] as const) {
        const path = `/api/books/export?title_starts=Trip&format=${format}&_sort=id`;
        const exported = await (await fetch(library.app.url + path, { headers: { "x-user": "ann" } })).text();
        const { book } = library.api.asSystem();
        for (const { id } of await titled("Trip")) await book.delete(id);
        expect([format, (await send("/import", exported, { type })).json]).toEqual([
          format,
          { created: 3, updated: 0, failed: [] },
        ]);
        expect((await titled("Trip")).map(plain)).toEqual(before);
      }
    });
  });

  describe("refuses", () => {
    it("refuses a caller before it reads the body", async () => {
      for (const [as, status] of [
        [null, 401],
        ["ann", 400],
      ] as const)
        expect([as, (await send("/import", '"', { as })).status]).toEqual([as, status]);
      expect((await send("/import", "x", { as: null, type: "text/plain" })).status).toBe(401);
      expect((await library.send("/api/shelves/import", "x")).status).toBe(405);
    });

    it.each([
      ["title,titel\r\nA", '"titel" in the header is not a field. Did you mean "title"?'],
      ["title,title\r\nA", '"title" is in the header twice.'],
      ["title,\r\nA", '"" in the header is not a field.'],
      ["title,emailBidx", '"emailBidx" in the header is not a field.'],
      ["shelf", '"shelf" in the header is not a field.'],
      ["\r\n", "The body has no header; its first line must name the fields"],
    ])("an ambiguous header: %j", async (body, message) => {
      const { status, json } = await send("/import", body);
      expect([status, json.message.startsWith(message), json.message]).toEqual([400, true, json.message]);
    });

    it("a header of unknown columns, twenty of which it reports", async () => {
      for (const [name, message] of [
        ["x", /is not a field/g],
        ["title", /is in the header twice/g],
      ] as const) {
        const { status, json } = await send("/import", lines(["title", ...Array(300).fill(name)].join(",")));
        expect([status, json.message.match(message).length]).toEqual([400, 20]);
      }
    });

    it("a header without the columns that identify records", async () => {
      const { status, json } = await send("/upsert", lines("title", "Ab"));
      expect([status, json.message]).toEqual([400, 'The header has no "isbn", which tells records apart']);
    });

    it.each([
      [
        "text/csv",
        'title\r\nBroken 1\r\nBroken 2\r\nBroken 3\r\nBroken 4\r\nBroken 5\r\nBr"oken"\r\nBroken 7\r\n',
        /has a quote inside/,
      ],
      [
        "text/csv",
        'title\r\nBroken 1\r\nBroken 2\r\nBroken 3\r\nBroken 4\r\nBroken 5\r\n"Broken"x\r\n',
        /text after a closing quote/,
      ],
      [
        "text/csv",
        'title\r\nBroken 1\r\nBroken 2\r\nBroken 3\r\nBroken 4\r\nBroken 5\r\n"Broken 6\r\n',
        /never closed/,
      ],
      ["text/csv", "title\r\nBroken 1\r\nBroken 2\r\nBroken 3\r\nBroken 4\r\nBroken 5\r\nBro\u0000ken", /NUL/],
      [
        "text/csv",
        `title\r\nBroken 1\r\nBroken 2\r\nBroken 3\r\nBroken 4\r\nBroken 5\r\n${"x".repeat(2_100)}`,
        /larger than 2000 bytes/,
      ],
      [
        JSON_TYPE,
        '[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{},{"title":}]',
        /not valid JSON/,
      ],
      [
        JSON_TYPE,
        '[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{},',
        /cut off/,
      ],
      [
        JSON_TYPE,
        '[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{},{"title":"Broken 6"}}',
        /cut off/,
      ],
      [
        JSON_TYPE,
        '[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{},,{}]',
        /not valid JSON/,
      ],
      [
        JSON_TYPE,
        '[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{},]',
        /not valid JSON/,
      ],
      [
        JSON_TYPE,
        '[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{}] x',
        /must be a JSON array/,
      ],
      [
        JSON_TYPE,
        `[{"title":"Broken 1"},{"title":"Broken 2"},{"title":"Broken 3"},{"title":"Broken 4"},{},{"title":"${"x".repeat(2_100)}"}]`,
        /larger than 2000 bytes/,
      ],
      [
        NDJSON,
        `{"title":"Broken 1"}\n{"title":"Broken 2"}\n{"title":"Broken 3"}\n{"title":"Broken 4"}\n{}\n${" ".repeat(2_100)}`,
        /larger than 2000 bytes/,
      ],
    ])("the rest of a malformed %s body, after the rows before: %#", async (type, body, reason) => {
      const { book } = library.api.asSystem();
      for (const { id } of await titled("Broken")) await book.delete(id);
      const { status, json } = await send("/import", body, { type });
      expect([status, json.message]).toEqual([400, expect.stringMatching(/^Row 6 /)]);
      expect(json.message).toMatch(reason);
      const isCsv = type === "text/csv";
      expect(json.details).toEqual({ row: 6, created: isCsv ? 5 : 4, updated: 0, failed: isCsv ? 0 : 1 });
      const stored = ["Broken 1", "Broken 2", "Broken 3", "Broken 4", ...(isCsv ? ["Broken 5"] : [])];
      expect(await titles("Broken")).toEqual(stored);
    });

    it.each([
      ["text/csv", 'title\r\nWaits 1\r\nWaits 2\r\nWaits 3\r\n"Waits'],
      [JSON_TYPE, '[{"title":"Waits 1"},{"title":"Waits 2"},{"title":"Waits 3"},{]'],
    ])("no row of a malformed %s body in a dry run", async (type, body) => {
      const { status, json } = await send("/check", body, { type });
      expect([status, json.details]).toEqual([400, { row: 4, created: 3, updated: 0, failed: 0 }]);
      expect(await titles("Waits")).toEqual([]);
    });

    it.each(["{}", "5", "", "  ", "nul", '{"title":"Not an array"}'])("JSON that is not an array: %j", async (body) => {
      expect((await send("/import", body, { type: JSON_TYPE })).status).toBe(400);
    });

    it("text that is not UTF-8", async () => {
      const { status, json } = await send("/import", Uint8Array.of(0x74, 0xff, 0x0a));
      expect([status, json.message]).toEqual([400, "Row 1 is not valid UTF-8"]);
    });

    it.each([
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/csv; charset=latin1",
      "",
    ])("the type %j", async (type) => {
      expect((await send("/import", "title", { type })).status).toBe(415);
    });

    it("compressed bodies", async () => {
      expect((await send("/import", "title", { headers: { "content-encoding": "gzip" } })).status).toBe(415);
      expect((await send("/import", "title", { headers: { "content-encoding": "identity" } })).status).toBe(200);
    });

    it("bodies beyond the limit, announced or not, and reports its progress", async () => {
      const body = lines("title,blurb", ...Array.from({ length: 300 }, (_, i) => `Huge ${i},${"x".repeat(1_000)}`));
      expect((await send("/import", body)).status).toBe(413);
      expect(await titles("Huge")).toEqual([]);
      const { status, json } = await send("/import", new Blob([body]).stream());
      expect([status, json.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
      expect(json.details.row).toBe(json.details.created + 1);
      expect(await titles("Huge")).toHaveLength(json.details.created);
    });

    it.each([["?dryrun=true"], ["?dryRun=1"], ["?dryRun=true&dryRun=true"], ["?x"]])("the query %s", async (query) => {
      expect((await send(`/import${query}`, lines("title", "Query"))).status).toBe(400);
      expect(await titles("Query")).toEqual([]);
    });

    it("to run within a transaction, which could not continue after a conflict", async () => {
      const { status, json } = await send("/within", null);
      expect([status, json.message]).toEqual([500, "An import has transactions of its own; run it outside of one"]);
      expect(await titles("Within")).toEqual([]);
    });
  });

  describe("rows", () => {
    it("that are refused are reported, and the others are stored", async () => {
      const body = JSON.stringify([
        { title: "Rows 1" },
        5,
        { title: "R", edition: "x" },
        { title: "Rows 2", nope: 1, ttle: 2 },
        [],
        null,
        { title: "Rows 3" },
        { edition: 1 },
        { title: "Rows 4", extra: JSON.parse('{"a":{"__proto__":1}}') },
      ]).replace('"extra":{"a":{}}', '"extra":{"a":{"__proto__":1}}');
      const { json } = await send("/import", body, { type: JSON_TYPE });
      expect([json.created, json.updated]).toEqual([2, 0]);
      expect(json.failed).toEqual([
        { row: 2, errors: { _: "must be an object" } },
        { row: 3, errors: { title: "must be at least 2 characters", edition: expect.any(String) } },
        { row: 4, errors: { nope: "is not a field", ttle: 'is not a field; did you mean "title"?' } },
        { row: 5, errors: { _: "must be an object" } },
        { row: 6, errors: { _: "must be an object" } },
        { row: 8, errors: { title: "is required" } },
        { row: 9, errors: { _: 'contains the key "__proto__"' } },
      ]);
      expect(await titles("Rows")).toEqual(["Rows 1", "Rows 3"]);
    });

    it("that are invalid JSON are refused if each is its own line; the others are stored", async () => {
      const body = '{"title":"Line 1"}\n{"title":\n{"title":"Line 3"}\n[\n{"title":"Line 5"}';
      const { status, json } = await send("/import", body, { type: NDJSON });
      const errors = { _: "is not valid JSON" };
      expect([status, json]).toEqual([
        200,
        {
          created: 3,
          updated: 0,
          failed: [
            { row: 2, errors },
            { row: 4, errors },
          ],
        },
      ]);
      expect(await titles("Line")).toEqual(["Line 1", "Line 3", "Line 5"]);
    });

    it("with more or fewer cells than the header are refused", async () => {
      const { json } = await send("/import", lines("title,edition", "Width 1,1", "Width 2", "", "Width 3,1,1"));
      expect(json).toMatchObject({
        created: 1,
        failed: [
          { row: 2, errors: { _: "has 1 cells, and the header has 2" } },
          { row: 3, errors: { _: "has 3 cells, and the header has 2" } },
        ],
      });
    });

    it("that are nested too deeply are refused", async () => {
      const deep = `{"title":"Deep 1","extra":${"[".repeat(20)}${"]".repeat(20)}}`;
      const { json } = await send("/import", `[${deep},{"title":"Deep 2"}]`, { type: JSON_TYPE });
      expect(json).toEqual({
        created: 1,
        updated: 0,
        failed: [{ row: 1, errors: { _: "is nested deeper than 20 levels" } }],
      });
    });

    it("belong to the caller, and omit fields that the caller may not write", async () => {
      const body = JSON.stringify([
        { title: "Mine 1", rank: 3 },
        { title: "Mine 2", id: "mine", ownerId: "ann" },
      ]);
      const mine = await send("/import", body, { type: JSON_TYPE });
      expect([mine.json.created, mine.headers.get("x-ignored-fields")]).toEqual([2, "rank"]);
      expect((await titled("Mine")).map(({ ownerId, rank, id }) => [ownerId, rank, id === "mine"])).toEqual([
        ["ann", null, false],
        ["ann", null, false],
      ]);
      const theirs = await send("/import", lines("title,ownerId,rank", "Other 1,bob,5"), { as: "ann" });
      expect(theirs.json.failed).toEqual([{ row: 1, errors: expect.anything() }]);
      const admin = await send("/import", lines("title,rank", "Rank 1,5"), { as: "adm" });
      expect([admin.json.created, admin.headers.get("x-ignored-fields")]).toEqual([1, null]);
      expect((await titled("Rank"))[0]?.rank).toBe(5);
    });

    it("may refer only to records that the caller may read", async () => {
      const body = lines("title,shelfId", "Ref 1,hall", "Ref 2,cellar", "Ref 3,nowhere", "Ref 4,hall");
      const { json } = await send("/import", body);
      const missing = { shelfId: "does not exist" };
      expect(json).toEqual({
        created: 2,
        updated: 0,
        failed: [
          { row: 2, errors: missing },
          { row: 3, errors: missing },
        ],
      });
      expect((await send("/import", lines("title,shelfId", "Ref 5,cellar"), { as: "adm" })).json.created).toBe(1);
    });

    it("of the system may refer only to existing records, without a check beforehand", async () => {
      const { book } = library.api.asSystem();
      const row = (title: string, shelfId: string) => ({ title, shelfId, ownerId: "ann" });
      const result = await book.import([row("Sys 1", "hall"), row("Sys 2", "nowhere"), row("Sys 3", "cellar")]);
      expect(result).toMatchObject({ created: 2, failed: [{ row: 2, errors: { shelfId: expect.any(String) } }] });
      expect(await titles("Sys")).toEqual(["Sys 1", "Sys 3"]);
    });

    it("of the system may have ids, which are refused when they are taken", async () => {
      const { book } = library.api.asSystem();
      const row = (title: string, id: string) => ({ title, id, ownerId: "ann" });
      const result = await book.import([row("Id 1", "one"), row("Id 2", "one"), row("Id 3", "three")]);
      expect(result).toEqual({ created: 2, updated: 0, failed: [{ row: 2, errors: { id: "is already taken" } }] });
      expect(await book.import([row("Id 4", "three")])).toMatchObject({ failed: [{ row: 1 }] });
    });

    it("are reported up to a thousand, and only counted beyond", async () => {
      const rows = (count: number) => lines("title,edition", ...Array<string>(count).fill("x,1"));
      const { json } = await send("/upsert-pair", rows(1_002));
      expect([json.created, json.failed.length, json.failedCount]).toEqual([0, 1_000, 1_002]);
      expect(json.failed.at(-1).row).toBe(1_000);
      expect((await send("/upsert-pair", rows(1_000))).json).not.toHaveProperty("failedCount");
    });

    it("are reported and stored in the order of the file", async () => {
      const all = Array.from({ length: 30 }, (_, i) => `Order ${i},${i % 3 === 0 ? "hall" : ""}`);
      await send("/import", lines("title,shelfId", ...all));
      expect(await titles("Order")).toEqual(Array.from({ length: 30 }, (_, i) => `Order ${i}`));
    });
  });

  describe("unique values", () => {
    const taken = (row: number, ...fields: string[]) => ({
      row,
      errors: Object.fromEntries(fields.map((field) => [field, "is already taken"])),
    });

    it("refuse the second row, near or far, and rows that meet a stored record", async () => {
      await send("/import", lines("title,isbn", "Uni 0,U0"));
      const rows = [
        "Uni 1,u1",
        "Uni 2, U1 ",
        "Uni 3,u0",
        "Uni 4,",
        "Uni 5,",
        "Uni 6,",
        "Uni 7,",
        "Uni 8,U1",
        "Uni 1,U9",
        "Uni 0,",
      ];
      const { json } = await send("/import", lines("title,isbn", ...rows));
      expect(json).toEqual({
        created: 5,
        updated: 0,
        failed: [
          taken(2, "isbn"),
          taken(3, "isbn"),
          taken(8, "isbn"),
          taken(9, "title", "edition"),
          taken(10, "title", "edition"),
        ],
      });
      expect(await titles("Uni")).toEqual(["Uni 0", "Uni 1", "Uni 4", "Uni 5", "Uni 6", "Uni 7"]);
    });

    it("are refused as by a create: after all other errors, naming the submitted field", async () => {
      const rows = [{ title: "Uni 0", isbn: "u0", price: "x" }, { title: "Other", isbn: "u0" }, { title: "Uni 0" }];
      const { json } = await send("/import", JSON.stringify(rows), { type: JSON_TYPE });
      const alone = [];
      for (const row of rows) {
        const answer = await send("", JSON.stringify(row), { type: JSON_TYPE });
        alone.push(answer.json.errors);
      }
      expect(json.failed.map(({ errors }: { errors: unknown }) => errors)).toEqual(alone);
    });

    it("are stored once when several imports contain them at the same time", async () => {
      const body = lines("title,isbn", ...Array.from({ length: 40 }, (_, i) => `Race ${i},RACE${i}`));
      const answers = await Promise.all(Array.from({ length: 4 }, () => send("/import", body)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const sum = (pick: (json: Awaited<ReturnType<typeof send>>["json"]) => number) =>
        answers.reduce((total, { json }) => total + pick(json), 0);
      expect([sum((json) => json.created), sum((json) => json.failed.length)]).toEqual([40, 120]);
      expect(await titles("Race")).toHaveLength(40);
    });
  });

  describe("with upsertBy", () => {
    it("updates records that have the value, and creates the others", async () => {
      await send("/import", lines("title,isbn,price,blurb", "Ups 1,UP1,1,keep", "Ups 2,UP2,2,keep"));
      const before = await titled("Ups");
      const body = lines(
        "title,isbn,price",
        "Ups 1b, up1 ,10",
        "Ups 3,up3,3",
        "Ups 3b,UP3,30",
        "U,up2,1",
        "Ups 4,,4",
        "Ups 5,,5",
      );
      const { json } = await send("/upsert", body);
      expect(json).toEqual({
        created: 3,
        updated: 2,
        failed: [{ row: 4, errors: { title: "must be at least 2 characters" } }],
      });
      const after = await titled("Ups");
      expect(after.map(({ title, price, blurb }) => [title, price, blurb])).toEqual([
        ["Ups 1b", 10, "keep"],
        ["Ups 2", 2, "keep"],
        ["Ups 3b", 30, null],
        ["Ups 4", 4, null],
        ["Ups 5", 5, null],
      ]);
      expect(after.slice(0, 2).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    });

    it("matches records by several fields together, in any order", async () => {
      await send("/import", lines("title,edition,price", "Pair,1,1", "Pair,2,2"));
      const { json } = await send("/upsert-pair", lines("edition,title,price", "2, Pair ,20", "3,Pair,3"));
      expect(json).toEqual({ created: 1, updated: 1, failed: [] });
      expect((await titled("Pair")).map(({ edition, price }) => [edition, price])).toEqual([
        [1, 1],
        [2, 20],
        [3, 3],
      ]);
    });

    it("treats a record that the caller may not update as a create does", async () => {
      await send("/import", lines("title,isbn", "Theirs,TH1"), { as: "bob" });
      const rows = [{ title: "Taken over", isbn: "TH1" }, { isbn: "TH1" }, { title: "T", isbn: "TH1" }];
      const { json } = await send("/upsert", JSON.stringify(rows), { type: JSON_TYPE });
      const alone = [];
      for (const row of rows) alone.push((await send("", JSON.stringify(row), { type: JSON_TYPE })).json.errors);
      expect(json.failed.map(({ errors }: { errors: unknown }) => errors)).toEqual(alone);
      expect(json.updated).toBe(0);
      expect(await titles("Theirs")).toEqual(["Theirs"]);
      expect((await send("/upsert", lines("title,isbn", "Theirs now,TH1"), { as: "adm" })).json.updated).toBe(1);
    });

    it("refuses a change to another record's unique values, and continues", async () => {
      await send("/import", lines("title,isbn", "Swap 1,SW1", "Swap 2,SW2"));
      const { json } = await send(
        "/upsert",
        lines("title,isbn", "Swap 2,SW1", "Swap 3,SW1", "Swap 1,SW2", "Swap 4,SW4"),
      );
      expect(json).toEqual({
        created: 1,
        updated: 2,
        failed: [{ row: 1, errors: { title: "is already taken" } }],
      });
      expect((await titled("Swap")).map(({ title, isbn }) => [title, isbn])).toEqual([
        ["Swap 3", "SW1"],
        ["Swap 1", "SW2"],
        ["Swap 4", "SW4"],
      ]);
    });

    it("ignores the id of an exported record", async () => {
      await send("/import", lines("title,isbn", "Idless,IDL"));
      const { json } = await send("/upsert", lines("id,title,isbn", "elsewhere,Idless 2,IDL"));
      expect(json).toEqual({ created: 0, updated: 1, failed: [] });
    });

    it("matches encrypted values, and stores hashes and ciphertext", async () => {
      const body = lines(
        "email,pin,ceiling",
        "A@x.test,long enough,5",
        "b@x.test,long enough,-7",
        "a@X.test,long enough,6",
      );
      const { json } = await library.send("/api/accounts/import", body);
      expect(json).toEqual({ created: 2, updated: 1, failed: [] });
      const again = await library.send("/api/accounts/import", lines("email,pin,ceiling", "b@x.test,short,1"));
      expect(again.json.failed).toEqual([{ row: 1, errors: { pin: "must be at least 8 characters" } }]);
      const stolen = await library.send("/api/accounts/import", lines("email,pin", "b@x.test,long enough"), {
        as: "bob",
      });
      expect(stolen.json.failed).toEqual([{ row: 1, errors: { email: "is already taken" } }]);
      const { data } = await library.api.asSystem().account.list({ sort: ["id"] });
      expect(data.map(({ email, ceiling, ownerId }) => [email, ceiling, ownerId])).toEqual([
        ["a@x.test", 6, "ann"],
        ["b@x.test", -7, "ann"],
      ]);
    });
  });

  describe("a dry run", () => {
    it("responds like the import, and stores and announces nothing", async () => {
      await send("/import", lines("title,isbn", "Dry 0,DRY0"));
      const body = lines("title,isbn", "Dry 1,D1", "Dry 2,D1", "D,", "Dry 3,DRY0", "Dry 4,D4", "Dry 5,D4", "Dry 1,");
      const before = library.committed.length;
      const answers = [
        await send("/check", body),
        await send("/check?dryRun=false", body),
        await send("/import?dryRun=true", body),
      ];
      expect(library.committed).toHaveLength(before);
      expect(await titles("Dry")).toEqual(["Dry 0"]);
      const real = await send("/import?dryRun=false", body);
      expect(real.json.created).toBe(2);
      for (const { status, json } of answers) expect([status, json]).toEqual([200, real.json]);
      expect(await titles("Dry")).toEqual(["Dry 0", "Dry 1", "Dry 4"]);
    });

    it("takes into account records that earlier batches would have created", async () => {
      const rows = Array.from({ length: 12 }, (_, i) => `Dup ${i},DU${i % 3}`);
      const dry = await send("/upsert?dryRun=true", lines("title,isbn", ...rows));
      expect(dry.json).toEqual({ created: 3, updated: 9, failed: [] });
      expect(await titles("Dup")).toEqual([]);
      expect((await send("/upsert", lines("title,isbn", ...rows))).json).toEqual(dry.json);
    });
  });

  describe("its statements", () => {
    it("store a batch at once, and look up a reference before and after it may wait", async () => {
      const rows = Array.from({ length: 8 }, (_, i) => `Stmt ${i},ST${i},hall`);
      library.statements.length = 0;
      library.committed.length = 0;
      await send("/import", lines("title,isbn,shelfId", ...rows));
      const again = name === "PostgreSQL" ? ["find shelf"] : []; // the statement may have waited
      const batch = ["find book", "find book", "find shelf", "insert book", ...again];
      expect(library.statements).toEqual([...batch, ...batch]);
      expect(library.committed.filter((name) => name === "book create")).toHaveLength(8);
    });

    it("store rows before any code could notice that they are missing", async () => {
      const body = JSON.stringify([{ title: "See 1" }, { title: "See 2", tagsIds: ["old"] }, { title: "See 3" }]);
      expect((await send("/import", body, { type: JSON_TYPE })).json.created).toBe(3);
      const { data } = await library.api
        .asSystem()
        .book.list({ where: { tags: { id: "old" }, title: { starts: "See" } } });
      expect(data.map(({ title }) => title)).toEqual(["See 2"]);
    });
  });
});
