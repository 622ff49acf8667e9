import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AnyEntity,
  belongsTo,
  bigint,
  bool,
  bytes,
  ConfigurationError,
  date,
  datetime,
  decimal,
  type EntityLike,
  email,
  entity,
  enums,
  float,
  hasMany,
  hasOne,
  int,
  json,
  jsonTyped,
  type Keelson,
  keelson,
  manyToMany,
  memoryDriver,
  resolveEntity,
  selfRef,
  string,
  text,
  time,
  toPrismaSchema,
  uuid,
} from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, startApp } from "../../support/http.ts";
import { openPage, type Page } from "../../support/page.ts";
import { repositoryRoot } from "../../support/source-files.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, namesIn, tableBelow } from "./table-below.ts";

const CONSTRUCTORS = {
  ...{ string, text, email, enums: enums("a", "b"), int, bigint, float, decimal: decimal(10, 2), bool },
  ...{ datetime, date, time, uuid, json, bytes },
};
const RELATIONS = { belongsTo, selfRef, hasMany, hasOne, manyToMany };

let page: Page;
let article: AnyEntity;
let api: Keelson;
let url = "";
let close: () => Promise<void>;

const sourceOf = (file: string): string => readFileSync(join(repositoryRoot, file), "utf8");
const methodsOf = (value: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(value)).filter((name) => name !== "constructor");
const built = (members: Parameters<typeof entity>[1]): AnyEntity => entity("thing", members).build() as AnyEntity;
const post = (body: object) => request(url, "POST", "/api/articles", { token: "ann", body });
const patch = (id: string, body: object) => request(url, "PATCH", `/api/articles/${id}`, { token: "ann", body });

beforeAll(async () => {
  page = openPage("concepts/entities");
  const loaded = await page.load<{ api: Keelson; article: EntityLike }>("magazine.ts");
  api = loaded.api;
  article = resolveEntity(loaded.article) as AnyEntity;
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  page.remove();
});

describe("docs/concepts/entities.md: the tables", () => {
  it("list every field constructor with its column, its conditions and search", () => {
    const rows = tableBelow(page.text, "Field constructors");
    const listed = rows.flatMap((cells) => namesIn(cells[0]));
    expect(listed.sort()).toEqual([...Object.keys(CONSTRUCTORS), "boolean", "jsonTyped"].sort());
    const fields = { ...CONSTRUCTORS, boolean: bool, jsonTyped: jsonTyped<object>() };
    for (const [names, , column, , conditions, q] of rows)
      for (const name of namesIn(names)) {
        const { kind } = fields[name as keyof typeof fields].definition;
        expect(column, name).toBe(`\`${kind.column.native?.postgresql ?? kind.column.scalar}\``);
        const most = kind.operators.has("like") ? "text" : kind.operators.has("gt") ? "order" : "equality";
        expect(conditions, name).toBe(kind.operators.has("eq") ? most : "null only");
        expect(q, name).toBe(kind.searchable ? "yes" : "no");
      }
  });

  it("list every modifier of fields, with the fields it is for", () => {
    const rows = tableBelow(page.text, "Field modifiers");
    expect(rows.flatMap((cells) => [...new Set(namesIn(cells[0]))]).sort()).toEqual(methodsOf(string).sort());
    const fieldFile = "src/entity/field-modifiers.ts";
    const forAll = membersOf(fieldFile, "Field");
    const forNumbers = membersOf(fieldFile, "NumberField").filter((name) => !forAll.includes(name));
    const forTexts = membersOf(fieldFile, "StringField").filter((name) => !forAll.includes(name));
    for (const [names, fields] of rows)
      for (const name of namesIn(names)) {
        const both = forNumbers.includes(name) && forTexts.includes(name);
        const some = both ? "numbers, texts" : forNumbers.includes(name) ? "numbers" : "texts";
        expect(fields, name).toBe(forAll.includes(name) ? "all" : some);
      }
  });

  it("list every relation, every modifier of relations and every method of the builder", () => {
    expect(columnOf(page.text, "Relations")).toEqual(Object.keys(RELATIONS));
    const relation = belongsTo(() => article);
    expect(columnOf(page.text, "Relation modifiers").sort()).toEqual(methodsOf(relation).sort());
    const builder = methodsOf(entity("thing", {})).filter((name) => name !== "name");
    expect(columnOf(page.text, "Methods of the builder").sort()).toEqual(builder.sort());
  });

  it("list every reserved name", () => {
    const line = page.text.split("\n").find((text) => text.startsWith("`include`, `select`")) as string;
    for (const name of [...namesIn(line), "_any"])
      expect(() => built({ [name]: string }), name).toThrow(/reserved|begin with "_"/);
    const [, source] = /RESERVED = new Set\(\[([\s\S]*?)\]\)/.exec(sourceOf("src/entity/problems.ts")) ?? [];
    expect(namesIn(line)).toEqual([...(source ?? "").matchAll(/"(\w+)"/g)].map(([, name]) => name));
  });
});

describe("docs/concepts/entities.md: definitions", () => {
  it("are frozen, from immutable builders, and refused with all problems at once", () => {
    const first = entity("thing", { name: string });
    const second = first.plural("stuff");
    expect([resolveEntity(first).plural, resolveEntity(second).plural]).toEqual([undefined, "stuff"]);
    expect(Object.isFrozen(resolveEntity(first))).toBe(true);
    const wrong = () => built({ id: string, secret: string.password().encrypted(), "a b": int });
    expect(wrong).toThrow(ConfigurationError);
    expect(wrong).toThrow(/^3 problems/);
    const apart = () => keelson({ entities: [entity("a", { bs: hasMany(() => article) })], driver: memoryDriver() });
    expect(apart).toThrow(ConfigurationError);
  });

  it("reserve the names of their keys, links and indexes as well", () => {
    const target = entity("target", {});
    for (const members of [
      { author: belongsTo(() => target), authorId: string },
      { tags: manyToMany(() => target), tagsIds: json },
      { ssn: string.encrypted({ searchable: true }), ssnBidx: string },
    ])
      expect(() => built(members)).toThrow(/already used/);
  });

  it("refuse modifiers that exclude each other", () => {
    for (const field of [
      string.password().encrypted(),
      string.password().trim(),
      string.password().lower(),
      string.password().upper(),
      string.password().unique(),
      string.encrypted().unique(),
      string.min(3).max(2),
      string.length(3).min(4),
    ])
      expect(() => built({ field })).toThrow(ConfigurationError);
    expect(() => built({ field: json.unique() })).toThrow(ConfigurationError);
    expect(() => entity("thing", { field: json }).index(["field"]).build()).toThrow(/cannot be indexed/);
  });

  it("accept modifiers in any order, the last call of each, all of validate and regex", () => {
    const plain = ({ definition }: { definition: object }) => ({ ...definition });
    expect(plain(string.optional().min(3).trim())).toEqual(plain(string.trim().min(3).optional()));
    expect(string.min(3).min(5).definition.min?.value).toBe(5);
    expect(string.readable("owner").readable("admin").definition.readable).toEqual(["admin"]);
    const both = string
      .regex(/a/)
      .regex(/b/)
      .validate(() => true, "x")
      .validate(() => true, "y").definition;
    expect([both.patterns.length, both.validators.length]).toEqual([2, 2]);
  });

  it("do not start with a literal default that the field refuses", () => {
    const thing = entity("thing", { size: int.min(3).default(1) });
    expect(() => keelson({ entities: [thing], driver: memoryDriver() })).toThrow(/default value/);
  });
});

describe("docs/concepts/entities.md: values", () => {
  it("show what curl gets", async () => {
    const { status, json: body } = await post({ title: "  Keels  ", state: "published" });
    expect([status, body.code, body.errors]).toEqual([400, "VALIDATION_FAILED", { publishedAt: "needs a date" }]);
  });

  it("are completed, trimmed and validated; Keelson's own are ignored", async () => {
    const sent = { title: "  Frames  ", createdAt: "2001-01-01", id: "mine", views: 7 };
    const { status, json: made, headers } = await post(sent);
    expect(status).toBe(201);
    expect(made).toMatchObject({ title: "Frames", state: "draft", body: null, views: 0, authorId: "ann" });
    expect(made.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(made.createdAt).not.toContain("2001");
    expect(headers.get("x-ignored-fields")).toBeNull();
    expect((await patch(made.id, { id: "other" })).status).toBe(400);
    expect((await patch(made.id, { state: null })).json.errors).toEqual({ state: "is required" });
    const both = await patch(made.id, { title: "x", state: "y" });
    expect(Object.keys(both.json.errors).sort()).toEqual(["state", "title"]);
    expect((await patch(made.id, { body: "" })).json.body).toBe("");
    expect((await patch(made.id, { body: null })).json.body).toBeNull();
    expect((await patch(made.id, { author: { id: "ann" } })).status).toBe(200);
    expect((await patch(made.id, { tagsIds: ["none"] })).status).toBe(400);
    const put = await request(url, "PUT", `/api/articles/${made.id}`, { token: "ann", body: { body: "b" } });
    expect(put.json).toMatchObject({ title: "Frames", body: "b" });
  });

  it("have limits in characters; NUL and lone surrogates are refused", async () => {
    expect((await post({ title: "😀".repeat(120) })).status).toBe(201);
    expect((await post({ title: "😀".repeat(121) })).status).toBe(400);
    expect((await post({ title: "a\u0000bc" })).status).toBe(400);
    const { json: made } = await post({ title: "Dated", publishedAt: "2024-05-31" });
    expect(made.publishedAt).toBe("2024-05-31T00:00:00.000Z");
    expect((await post({ title: "Dated 2", publishedAt: "2024-02-30" })).status).toBe(400);
  });
});

describe("docs/concepts/entities.md: the database", () => {
  it("gets the table that the page prints", () => {
    const schema = toPrismaSchema(Object.values(api.entities), { provider: "postgresql" });
    const printed = /^```prisma\n([\s\S]*?)^```/m.exec(page.text)?.[1] as string;
    expect(schema).toContain(printed);
  });

  it("gets unique keys for hasOne, and the declared actions on deletion", () => {
    const user: EntityLike = entity("user", { profile: hasOne(() => profile), notes: hasMany(() => note) });
    const profile: EntityLike = entity("profile", { user: belongsTo(() => user) });
    const note: EntityLike = entity("note", {
      user: belongsTo(() => user).optional(),
      parent: selfRef().optional().onDelete("cascade"),
    });
    const schema = toPrismaSchema([user, profile, note], { provider: "sqlite" });
    expect(schema).toMatch(/model profile \{[^}]*userId +String +@unique/);
    expect(schema).toMatch(/fields: \[parentId\][^\n]*onDelete: Cascade/);
    expect(schema).toMatch(/model note \{[^}]*fields: \[userId\][^\n]*onDelete: SetNull/);
    expect(schema).toMatch(/model profile \{[^}]*fields: \[userId\][^\n]*onDelete: NoAction/);
  });

  it("has no literal defaults of protected fields", () => {
    const thing = entity("thing", {
      secret: string.encrypted().default("s3"),
      password: string.password().default("p4ssw0rd"),
    });
    expect(toPrismaSchema([thing], { provider: "postgresql" })).not.toMatch(/s3|p4ssw0rd/);
  });
});

describe("docs/concepts/entities.md: routes", () => {
  it("have the kebab-case plural, none when internal, and 404 if configured", async () => {
    const shown = entity("orderItem", { name: string }).rules({ read: ["everyone"] });
    const log = entity("log", { line: string })
      .rules({ read: ["everyone"] })
      .internal();
    const secret = entity("secret", { owner: belongsTo(() => shown).optional() })
      .rules({ read: ["admin"] })
      .hideForbidden();
    const plain = entity("plain", {}).rules({ read: ["admin"] });
    const app = keelson({
      entities: [shown, log, secret, plain],
      driver: memoryDriver({ secret: [{ id: "s" }], plain: [{ id: "p" }], log: [{ id: "l", line: "x" }] }),
    });
    const paths = new Set(app.routes.map(({ path }) => path));
    expect(paths.has("/api/order-items")).toBe(true);
    expect([...paths].filter((path) => path.includes("log"))).toEqual([]);
    const ann = app.as({ id: "ann" });
    expect((await ann.log.list()).data).toHaveLength(1);
    await expect(ann.secret.get("s")).rejects.toMatchObject({ status: 404 });
    await expect(ann.plain.get("p")).rejects.toMatchObject({ status: 403 });
    await app.close();
  });
});
