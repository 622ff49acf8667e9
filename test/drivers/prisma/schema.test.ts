import { createRequire } from "node:module";
import { getDMMF } from "@prisma/get-dmmf";
import { describe, expect, it } from "vitest";
import { embedded, toPrismaSchema } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  bool,
  ConfigurationError,
  createModel,
  datetime,
  type EntityLike,
  entity,
  float,
  hasMany,
  hasOne,
  int,
  json,
  manyToMany,
  type Provider,
  selfRef,
  string,
  text,
} from "../../../src/entity/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { fixtureEntities } from "../../support/entities.ts";

const PROVIDERS: readonly Provider[] = ["sqlite", "postgresql", "mysql"];

/** Prisma's error for a schema; empty when it accepts it. */
function complaints(schema: string): string {
  const parsed = getDMMF({ datamodel: [["schema.prisma", schema]] });
  return "error" in parsed ? parsed.error.message : "";
}

/** The lines of one model, with whitespace collapsed. */
function modelOf(schema: string, name: string): string {
  const model = schema.split(new RegExp(`^model ${name} \\{$`, "m"))[1]?.split("\n}")[0] ?? "";
  return model.replace(/(?<=\S) +/g, " ");
}

type Formatter = { format(files: string, params: string): string };

/** The output of Prisma's own formatter for a schema; the package comes with the parser. */
function formatted(schema: string): string {
  const parser = createRequire(import.meta.url).resolve("@prisma/get-dmmf");
  const { format } = createRequire(parser)("@prisma/prisma-schema-wasm") as Formatter;
  const params = { textDocument: { uri: "file:/dev/null" }, options: { tabSize: 2, insertSpaces: true } };
  const files = JSON.parse(format(JSON.stringify([["/dev/null", schema]]), JSON.stringify(params))) as string[][];
  return files[0]?.[1] ?? "";
}

const user = entity("user", {
  name: string,
  email: string.unique(),
  posts: hasMany(() => post).inverse("author"),
  profile: hasOne(() => profile),
});
const profile = entity("profile", { bio: text.optional(), user: belongsTo(() => user).onDelete("cascade") });
const post = entity("post", {
  title: string,
  rating: float.optional(),
  views: int.default(0),
  meta: json.optional(),
  author: belongsTo(() => user),
  reviewer: belongsTo(() => user).optional(),
  parent: selfRef().optional(),
  source: belongsTo(() => user).remote("news"),
  tags: manyToMany(() => tag),
})
  .unique(["authorId", "title"])
  .index(["views", "title"])
  .versioned();
const tag = entity("tag", { name: string.unique() }).timestamps(false);
const blog: readonly EntityLike[] = [user, profile, post, tag];

describe("toPrismaSchema", () => {
  it("prints columns, relations with both sides, and indexes", () => {
    expect(toPrismaSchema(blog, { provider: "postgresql" })).toMatchInlineSnapshot(`
      "// Made from the entity definitions; change those, not this file.

      generator client {
        provider = "prisma-client"
        output   = "../generated/prisma"
      }

      datasource db {
        provider = "postgresql"
      }

      model user {
        id             String   @id @db.VarChar(128)
        name           String   @db.VarChar(255)
        email          String   @unique @db.VarChar(255)
        createdAt      DateTime @default(now())
        updatedAt      DateTime @default(now())
        posts          post[]   @relation(name: "post_author")
        profile        profile?
        post__reviewer post[]   @relation(name: "post_reviewer")
      }

      model profile {
        id        String   @id @db.VarChar(128)
        bio       String?  @db.Text
        userId    String   @unique @db.VarChar(128)
        createdAt DateTime @default(now())
        updatedAt DateTime @default(now())
        user      user     @relation(fields: [userId], references: [id], onDelete: Cascade)
      }

      model post {
        id           String   @id @db.VarChar(128)
        title        String   @db.VarChar(255)
        rating       Float?
        views        Int      @default(0)
        meta         Json?
        authorId     String   @db.VarChar(128)
        reviewerId   String?  @db.VarChar(128)
        parentId     String?  @db.VarChar(128)
        sourceId     String   @db.VarChar(128)
        createdAt    DateTime @default(now())
        updatedAt    DateTime @default(now())
        version      Int      @default(1)
        author       user     @relation(name: "post_author", fields: [authorId], references: [id], onDelete: NoAction)
        reviewer     user?    @relation(name: "post_reviewer", fields: [reviewerId], references: [id], onDelete: SetNull)
        parent       post?    @relation(name: "post_parent", fields: [parentId], references: [id], onDelete: SetNull)
        tags         tag[]    @relation(name: "post_tags")
        post__parent post[]   @relation(name: "post_parent")

        @@unique([authorId, title])
        @@index([views, title])
        @@index([authorId])
        @@index([reviewerId])
        @@index([parentId])
        @@index([sourceId])
      }

      model tag {
        id         String @id @db.VarChar(128)
        name       String @unique @db.VarChar(255)
        post__tags post[] @relation(name: "post_tags")
      }
      "
    `);
  });

  it("prints no native types for SQLite, which has none", () => {
    expect(modelOf(toPrismaSchema(blog, { provider: "sqlite" }), "post")).not.toContain("@db.");
  });

  it.each(PROVIDERS)("produces schemas that Prisma accepts for %s", (provider) => {
    expect(complaints(toPrismaSchema(blog, { provider }))).toBe("");
    expect(complaints(toPrismaSchema(fixtureEntities, { provider }))).toBe("");
  });

  it.each(PROVIDERS)("is formatted for %s as by Prisma's formatter", (provider) => {
    for (const entities of [blog, fixtureEntities]) {
      const schema = toPrismaSchema(entities, { provider });
      expect(formatted(schema)).toBe(schema);
    }
  });

  it("indexes prefixes of long texts on MySQL, where they cannot be unique", () => {
    const note = entity("note", { body: text, lang: string }).index(["lang", "body"]);
    expect(modelOf(toPrismaSchema([note], { provider: "mysql" }), "note")).toContain(
      "@@index([lang, body(length: 255)])",
    );
    expect(modelOf(toPrismaSchema([note], { provider: "postgresql" }), "note")).toContain("@@index([lang, body])");
    const unique = entity("note", { body: text.unique() });
    expect(complaints(toPrismaSchema([unique], { provider: "postgresql" }))).toBe("");
    expect(() => toPrismaSchema([unique], { provider: "mysql" })).toThrow(
      "note.body: MySQL cannot keep a text field unique; make it a string, or drop .unique()",
    );
  });

  it("declares encrypted fields of any kind as long text", () => {
    const secret = entity("secret", { name: string.encrypted({ searchable: true }), size: int.encrypted() });
    const native = { sqlite: "", postgresql: " @db.Text", mysql: " @db.MediumText" };
    for (const provider of PROVIDERS) {
      const model = modelOf(toPrismaSchema([secret], { provider }), "secret");
      expect(model).toContain(`name String${native[provider]}\n`);
      expect(model).toContain(`size String${native[provider]}\n`);
      expect(model).toContain(`nameBidx String${provider === "sqlite" ? "" : " @db.VarChar(64)"}\n`);
    }
  });

  it("produces the same text for the same definitions, and for their model", () => {
    const once = toPrismaSchema(blog, { provider: "sqlite" });
    expect(toPrismaSchema(blog, { provider: "sqlite" })).toBe(once);
    expect(toPrismaSchema(createModel(blog), { provider: "sqlite" })).toBe(once);
  });

  it("prints a generator by default", () => {
    const options = { provider: "sqlite" } as const;
    expect(toPrismaSchema(blog, { ...options, output: "../client" })).toContain('output   = "../client"');
    expect(toPrismaSchema(blog, { ...options, output: false })).not.toContain("generator");
  });

  it.each(PROVIDERS)("writes literal defaults for %s that Prisma reads as the same value", (provider) => {
    const thing = entity("thing", {
      quoted: string.default('"q" \\ back\nline \u0001 ☃ 😀'),
      whole: int.default(-3),
      broken: float.default(1.5),
      huge: float.default(1e21),
      yes: bool.default(true),
      moment: datetime.default(new Date("2024-05-31T12:00:00.123Z")),
      data: json.default({ a: ["'", { b: null }] }),
      made: string.default(() => "made"),
      secret: string.password().default("hunter2"),
    });
    const schema = toPrismaSchema([thing], { provider });
    expect(complaints(schema)).toBe("");
    expect(schema).not.toContain("hunter2");
    const parsed = getDMMF({ datamodel: [["schema.prisma", schema]] });
    const fields = "error" in parsed ? [] : (parsed.datamodel.models[0]?.fields ?? []);
    const defaults = Object.fromEntries(fields.map((field) => [field.name, field.default]));
    expect(defaults).toMatchObject({
      quoted: '"q" \\ back\nline \u0001 ☃ 😀',
      whole: -3,
      broken: 1.5,
      yes: true,
    });
    expect(defaults.huge ?? defaults.made ?? defaults.secret).toBeUndefined();
    expect(defaults.moment).toEqual(
      provider === "sqlite"
        ? { name: "dbgenerated", args: ["'2024-05-31T12:00:00.123+00:00'"] }
        : "2024-05-31T12:00:00.123+00:00",
    );
    if (provider !== "mysql") expect(defaults.data).toBe('{"a":["\'",{"b":null}]}');
  });

  it("names a link table after its relation, for any number of relations", () => {
    const alone = entity("article", { labels: manyToMany(() => label) });
    const label = entity("label", { name: string });
    const several = entity("article", {
      labels: manyToMany(() => label),
      topics: manyToMany(() => label),
      best: belongsTo(() => label).optional(),
    });
    for (const article of [alone, several]) {
      const schema = toPrismaSchema([article, label], { provider: "sqlite" });
      expect(modelOf(schema, "article")).toContain('labels label[] @relation(name: "article_labels")');
      expect(complaints(schema)).toBe("");
    }
  });

  it.each(PROVIDERS)("gives link tables unique names of a length that %s allows", (provider) => {
    const name = "a".repeat(40);
    const long = entity(name, {
      [`${"b".repeat(40)}1`]: manyToMany(() => tag),
      [`${"b".repeat(40)}2`]: manyToMany(() => tag),
    });
    const schema = toPrismaSchema([long, tag], { provider });
    expect(complaints(schema)).toBe("");
    const names = [...new Set(schema.match(/(?<=name: ")[^"]*/g))];
    expect(names).toHaveLength(2);
    for (const relation of names) expect(relation).toHaveLength(62);
  });

  it("keeps values unique among live records, except on MySQL", () => {
    const owner = entity("owner", { name: string, seat: hasOne(() => seat) });
    const seat = entity("seat", {
      code: string.unique(),
      row: string,
      gone: datetime.optional(),
      owner: belongsTo(() => owner),
    })
      .unique(["row", "code"])
      .timestamps(false)
      .softDelete("gone");
    const schema = toPrismaSchema([owner, seat], { provider: "postgresql" });
    expect(complaints(schema)).toBe("");
    expect(schema).toContain('previewFeatures = ["partialIndexes"]');
    expect(formatted(schema)).toBe(schema);
    expect(modelOf(schema, "seat")).toMatchInlineSnapshot(`
      "
        id String @id @db.VarChar(128)
        code String @unique(where: { gone: null }, map: "seat_code_live_key") @db.VarChar(255)
        row String @db.VarChar(255)
        gone DateTime?
        ownerId String @unique(where: { gone: null }, map: "seat_ownerId_live_key") @db.VarChar(128)
        owner owner @relation(fields: [ownerId], references: [id], onDelete: NoAction)

        @@unique([row, code], where: { gone: null }, map: "seat_row_code_live_key")
        @@index([ownerId])"
    `);
    expect(modelOf(schema, "owner")).toContain("seat seat[]");
    const elsewhere = toPrismaSchema([owner, seat], { provider: "sqlite", output: false });
    expect(elsewhere).toContain('// The generator needs previewFeatures = ["partialIndexes"]');
    const mysql = toPrismaSchema([owner, seat], { provider: "mysql" });
    expect(complaints(mysql)).toBe("");
    expect(mysql).not.toMatch(/previewFeatures|where/);
    expect(toPrismaSchema([owner, seat], { provider: "mysql", output: false })).not.toContain("generator");
  });

  it("gives the index of live values a name that PostgreSQL accepts", () => {
    const name = "a".repeat(40);
    const long = entity(name, { [name]: string.unique(), deletedAt: datetime.optional() }).softDelete();
    const map = /map: "([^"]*)"/.exec(toPrismaSchema([long], { provider: "postgresql" }))?.[1] ?? "";
    expect(map).toHaveLength(63);
    expect(map).toMatch(/^a{40}_a+_live_key$/);
  });

  it("allows two lists with one key", () => {
    const author = entity("author", { books: hasMany(() => book), works: hasMany(() => book) });
    const book = entity("book", { author: belongsTo(() => author) });
    const schema = toPrismaSchema([author, book], { provider: "sqlite" });
    expect(complaints(schema)).toBe("");
    expect(modelOf(schema, "author")).toContain("books book[]");
    expect(modelOf(schema, "author")).not.toContain("works");
  });

  it("refuses relations without a target", () => {
    const lost = entity("lost", { other: belongsTo(() => tag) });
    expect(() => toPrismaSchema([lost], { provider: "sqlite" })).toThrow(ConfigurationError);
  });

  it("reports Prisma's errors when an app starts", async () => {
    const { file, remove } = await freshSqliteFile();
    const reserved = entity("model1", { async: string, owner: belongsTo(() => string1) });
    const string1 = entity("String", { name: string });
    const failure = await embedded({ file })
      .connect(driverContext([reserved, string1]))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).problems).toMatchInlineSnapshot(`
      [
        "Prisma refuses “model String {” (P1012): "String" is a reserved scalar type name and cannot be used.",
        "Prisma refuses “owner     String   @relation(fields: [ownerId], references: [id], onDelete: NoAction)” (P1012): Invalid field type, not a relation.",
        "Prisma refuses “owner     String   @relation(fields: [ownerId], references: [id], onDelete: NoAction)” (P1012): No such argument.",
      ]
    `);
    await remove();
  });

  it("refuses entities that differ only in case", async () => {
    const { file, remove } = await freshSqliteFile();
    const twins = [entity("post", { title: string }), entity("Post", { title: string }).plural("other")];
    await expect(embedded({ file }).connect(driverContext(twins))).rejects.toThrow(/"post" and "Post"/);
    await remove();
  });
});
