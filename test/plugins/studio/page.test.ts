import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OPERATORS, type Operator } from "../../../src/entity/index.ts";
import type { AppDocument, FieldDescription } from "../../../src/plugins/studio/app-document.ts";
import { isBrokenJson, toText, toWire, widgetOf } from "../../../src/plugins/studio/page/fields/widget.ts";
import { conditionsOf, pageQuery, readList, writeList } from "../../../src/plugins/studio/page/list/list-query.ts";
import { typeOf } from "../../../src/plugins/studio/page/screens/import-source.ts";
import { linkTo, readPlace } from "../../../src/plugins/studio/page/state/location.ts";
import { label, say } from "../../../src/plugins/studio/page/words.ts";

const all = { read: "all", write: "all", optional: false } as const;
const text = {
  ...all,
  kind: "string",
  schema: { type: "string" },
  operators: ["eq", "ne", "like"],
  sortable: true,
} as const;
const texts = {
  ...all,
  kind: "string[]",
  schema: { type: "array", items: { type: "string" } },
  operators: ["has", "hasAny", "hasAll", "isEmpty", "null"],
} as const;
const number = {
  ...all,
  kind: "int",
  schema: { type: "integer" },
  operators: ["eq", "gte", "lt"],
  sortable: true,
} as const;
const optional = (field: Omit<FieldDescription, "name">): FieldDescription => ({ ...field, name: "x", optional: true });

const genre = {
  name: "genre",
  path: "genres",
  rights: { list: "all", read: "all" },
  fields: [
    { ...text, name: "id" },
    { ...text, name: "name" },
  ],
  relations: [],
  actions: [],
  title: "name",
  searchable: true,
  versioned: false,
} as const;
const film = {
  ...genre,
  name: "film",
  path: "films",
  fields: [
    { ...text, name: "id" },
    { ...text, name: "title" },
    { ...number, name: "stars_gte" },
    { ...number, name: "stars" },
    { ...texts, name: "tags" },
    { ...text, name: "genreId", relation: "genre" },
  ],
  relations: [{ name: "genre", type: "belongsTo", target: "genre", foreignKey: "genreId", remote: false }],
  title: "title",
} as const;
const app: AppDocument = {
  title: "Films",
  caller: { kind: "anonymous", isAdmin: false },
  api: "/api",
  entities: [film, genre],
  charts: [],
  limits: { pageSize: 20, maxPageSize: 100, bulk: 1000 },
};

describe("the link to a list", () => {
  it("is parsed back to the same state", () => {
    const filter = fc.oneof(
      fc.record({
        path: fc.constant("title"),
        operator: fc.constantFrom("eq", "ne", "like"),
        value: fc.string({ minLength: 1 }),
      }),
      fc.record({
        path: fc.constant("stars"),
        operator: fc.constantFrom("eq", "lt"),
        value: fc.string({ minLength: 1 }),
      }),
      fc.record({
        path: fc.constant("genre.name"),
        operator: fc.constantFrom("eq", "like"),
        value: fc.string({ minLength: 1 }),
      }),
    );
    const state = fc.record({
      filters: fc.array(filter, { maxLength: 4 }),
      isAny: fc.boolean(),
      q: fc.string(),
      sort: fc.constantFrom("", "title", "-stars"),
      columns: fc.shuffledSubarray(["title", "stars", "genreId"], { minLength: 1 }),
      limit: fc.integer({ min: 1, max: 100 }),
      after: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      isDeleted: fc.constant(false),
      where: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(state, (given) => {
        const link = linkTo(["films"], writeList(app, film, given));
        expect(readList(app, film, readPlace(link).search)).toEqual(given);
      }),
    );
  });

  it("has a label for every operator, and parses and writes its value", () => {
    expect(Object.keys(OPERATORS).map((name) => say(`op.${name as Operator}`))).toEqual(
      Object.values(OPERATORS).map((operator) => operator.label),
    );
    const link = "tags_has=a&tags_hasAny=a%2Cb&tags_hasAll=c&tags_isEmpty=false&tags_null=true";
    const list = readList(app, film, new URLSearchParams(link));
    expect(writeList(app, film, list).toString()).toBe(link);
    expect(JSON.parse(conditionsOf(app, film, { ...list, isAny: true }).get("_where") ?? "")).toEqual({
      or: [{ has: "a" }, { hasAny: ["a", "b"] }, { hasAll: ["c"] }, { isEmpty: false }, { null: true }].map((tags) => ({
        tags,
      })),
    });
  });

  it("means the field if a name could be a field or an operator", () => {
    const { filters } = readList(app, film, new URLSearchParams("stars_gte=3&stars_lt=5"));
    expect(filters).toEqual([
      { path: "stars_gte", operator: "eq", value: "3" },
      { path: "stars", operator: "lt", value: "5" },
    ]);
  });

  it("sends alternatives between conditions as JSON", () => {
    const search = new URLSearchParams("title_like=a&stars_lt=5&genre.name=Drama&_match=any");
    const query = pageQuery(app, film, readList(app, film, search));
    expect(JSON.parse(query.get("_where") ?? "")).toEqual({
      or: [{ title: { like: "a" } }, { stars: { lt: 5 } }, { genre: { name: { eq: "Drama" } } }],
    });
    expect([...query.keys()]).not.toContain("title_like");
    search.set("_where", '{"stars":3}');
    const both = pageQuery(app, film, readList(app, film, search)).get("_where") ?? "";
    expect(JSON.parse(both)).toMatchObject({ and: [{ or: [{}, {}, {}] }, { stars: 3 }] });
  });

  it("omits conditions that the caller cannot use", () => {
    const search = new URLSearchParams("secret=1&stars_like=1&genre.secret=1&columns=secret,title&_deleted=only");
    expect(readList(app, film, search)).toMatchObject({ filters: [], columns: ["title"], isDeleted: false });
  });

  it("requests the columns, the titles of referenced records, and no total", () => {
    const query = pageQuery(app, film, readList(app, film, new URLSearchParams("columns=stars,genreId")));
    expect(Object.fromEntries(query)).toEqual({
      select: "id,title,stars,genreId",
      include: '{"genre":{"select":["id","name"]}}',
      _limit: "20",
      _total: "none",
    });
  });
});

describe("a value", () => {
  it("is edited by the widget of its kind, or of its schema", () => {
    const widget = (kind: string | undefined, schema: object): string =>
      widgetOf({ name: "x", schema: schema as FieldDescription["schema"], optional: true, ...(kind ? { kind } : {}) });
    expect(widget("string", { type: "string", enum: ["a", "b"] })).toBe("choice");
    expect(widget("decimal", { type: "string" })).toBe("exact");
    expect(widget("email", { type: "string" })).toBe("text");
    expect(widget(undefined, { type: "integer" })).toBe("number");
    expect(widget(undefined, { type: "boolean" })).toBe("bool");
    expect(widget(undefined, {})).toBe("json");
  });

  it("is sent in the API's format, and as typed if it cannot be parsed", () => {
    expect(toWire(optional(number), "12")).toBe(12);
    expect(toWire(optional(number), "many")).toBe("many");
    expect(toWire(optional(number), "")).toBe(null);
    expect(toWire({ ...optional(text), optional: false }, "")).toBe("");
    const moment = optional({ ...all, kind: "datetime", schema: {} });
    expect(toWire(moment, "2026-05-31T10:00")).toBe("2026-05-31T10:00:00.000Z");
    expect(toWire(moment, "tomorrow")).toBe("tomorrow");
    const exact = optional({ ...all, kind: "decimal", schema: { type: "string" } });
    expect(toWire(exact, "0.10")).toBe("0.10");
  });

  it("is sent unchanged if it is not edited", () => {
    const json = optional({ ...all, kind: "json", schema: {} });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(value !== null && value !== undefined);
        expect(JSON.stringify(toWire(json, toText(json, value)))).toBe(JSON.stringify(value));
      }),
    );
    const moment = optional({ ...all, kind: "datetime", schema: {} });
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31") }), (date) => {
        expect(toWire(moment, toText(moment, date.toISOString()))).toBe(date.toISOString());
      }),
    );
    expect(isBrokenJson(json, "{")).toBe(true);
    expect(isBrokenJson(json, "{}")).toBe(false);
  });

  it("has a readable name", () => {
    expect([label("releaseDate"), label("imdbURL"), label("us_gross")]).toEqual([
      "Release date",
      "Imdb URL",
      "Us gross",
    ]);
    expect(say("selected", { count: 3 })).toBe("3 selected");
  });

  it("is imported by the format of its file's name, or of its beginning", () => {
    expect(typeOf({ name: "a.CSV", content: "[" })).toBe("text/csv");
    expect(typeOf({ name: "a.ndjson", content: "" })).toBe("application/x-ndjson");
    expect(typeOf({ name: "", content: " [{}]" })).toBe("application/json");
    expect(typeOf({ name: "", content: "{}\n{}" })).toBe("application/x-ndjson");
    expect(typeOf({ name: "", content: "a,b" })).toBe("text/csv");
  });
});
