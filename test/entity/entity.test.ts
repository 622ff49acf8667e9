import { describe, expect, it } from "vitest";
import {
  belongsTo,
  ConfigurationError,
  datetime,
  type EntityBuilder,
  entity,
  enums,
  type FieldMap,
  hasMany,
  hasOne,
  int,
  json,
  manyToMany,
  resolveEntity,
  selfRef,
  string,
} from "../../src/entity/index.ts";
import { changeable } from "../support/frozen.ts";

const user = entity("user", { name: string });

/** The problems of a definition; empty when it is valid. */
function problemsOf(build: () => { build(): unknown }): readonly string[] {
  try {
    build().build();
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
}
const problemsWith = (fields: FieldMap): readonly string[] => problemsOf(() => entity("post", fields));

describe("an entity", () => {
  const full = entity("post", {
    title: string.min(3).unique(),
    author: belongsTo(() => user),
    views: int.default(0),
    editor: belongsTo(() => user)
      .optional()
      .foreignKey("editedBy"),
    comments: hasMany(() => user),
    tags: manyToMany(() => user),
    parent: selfRef().optional().unique(),
  })
    .ownedBy("author")
    .rules({ read: ["everyone"], create: [{ name: "authenticated" }], update: [] })
    .actions({ publish: { method: "POST", handler: () => undefined } })
    .actions({ archive: { method: "PUT", handler: () => undefined } })
    .validate(() => true, "always", { operations: ["create"], fields: ["title"] })
    .validate(() => true, "also")
    .plural("articles")
    .hideForbidden()
    .internal()
    .versioned({ required: true })
    .index(["views", "authorId"])
    .unique(["editedBy", "title"]);

  it("contains everything that its builder was given", () => {
    const definition = full.build();
    expect(definition).toMatchObject({
      name: "post",
      plural: "articles",
      ownedBy: "author",
      rules: { read: ["everyone"], create: ["authenticated"], update: [] },
      actions: { publish: { method: "POST" }, archive: { method: "PUT" } },
      timestamps: true,
      internal: true,
      hideForbidden: true,
      versioned: { required: true },
      indexes: [["views", "authorId"]],
      uniques: [["editedBy", "title"]],
    });
    expect(Object.keys(definition.fields)).toEqual(["title", "views"]);
    expect(Object.keys(definition.relations)).toEqual(["author", "editor", "comments", "tags", "parent"]);
    expect(definition.validators).toMatchObject([
      { message: "always", operations: ["create"], fields: ["title"] },
      { message: "also", operations: ["create", "update"], fields: [] },
    ]);
  });

  it("has empty settings by default", () => {
    const plain = entity("tag", { name: string }).build();
    expect(plain.rules).toBeUndefined();
    expect(plain.ownedBy).toBeUndefined();
    expect(plain.plural).toBeUndefined();
    expect(plain.versioned).toBeUndefined();
    expect(plain).toMatchObject({
      timestamps: true,
      internal: false,
      hideForbidden: false,
      indexes: [],
      uniques: [],
      validators: [],
      actions: {},
    });
  });

  it("has a column per field and foreign key, between id and timestamps", () => {
    const { columns } = full.build();
    const shown = Object.values(columns).map(({ name, role, kind, optional, unique }) =>
      [name, role, kind.name, optional && "optional", unique && "unique"].filter(Boolean).join(" "),
    );
    expect(shown).toEqual([
      "id id id unique",
      "title field string unique",
      "authorId foreignKey id",
      "views field int",
      "editedBy foreignKey id optional",
      "parentId foreignKey id optional unique",
      "createdAt createdAt datetime",
      "updatedAt updatedAt datetime",
      "version version int",
    ]);
    expect(columns.editedBy).toMatchObject({ relation: "editor" });
    expect(columns.title?.field).toBe(full.build().fields.title);
    expect(Object.keys(entity("tag", { name: string }).timestamps(false).build().columns)).toEqual(["id", "name"]);
  });

  it("cannot be changed once it is built", () => {
    const definition = full.build();
    const { actions: _, ...rest } = definition;
    expect(Object.isFrozen(definition)).toBe(true);
    expect(Object.isFrozen(definition.actions)).toBe(true);
    expect(changeable(Object.freeze(rest))).toEqual([]);
  });

  it("is not affected by later changes to the lists it was given", () => {
    const columns = ["name"];
    const fields = ["name"];
    const definition = entity("tag", { name: string })
      .unique(columns)
      .validate(() => true, "x", { fields })
      .build();
    columns.push("nope");
    fields.push("nope");
    expect(definition.uniques).toEqual([["name"]]);
    expect(definition.validators[0]?.fields).toEqual(["name"]);
  });

  it("is described by immutable builders", () => {
    const before = entity("post", { title: string });
    const after = before.plural("articles").timestamps(false);
    expect(before.build()).toMatchObject({ timestamps: true });
    expect(before.build().plural).toBeUndefined();
    expect(after.build()).toMatchObject({ timestamps: false, plural: "articles" });
    expect(after.name).toBe("post");
  });

  it("is the same for any order of method calls", () => {
    const start = entity("post", { title: string, author: belongsTo(() => user) });
    const one = start.ownedBy("author").rules({ read: [] }).plural("x").versioned().internal().index(["title"]);
    const other = start.index(["title"]).internal().versioned().plural("x").rules({ read: [] }).ownedBy("author");
    expect(JSON.stringify(Object.entries(other.build()).sort())).toBe(
      JSON.stringify(Object.entries(one.build()).sort()),
    );
  });

  it.each([
    [undefined, /a rule is undefined; do two files import each other\?/],
    [null, /neither a name nor what defineRule gives/],
    [{}, /neither a name nor what defineRule gives/],
    [["owner", undefined], /undefined/],
  ])("is refused with the rule %j, which a circular import leaves undefined", (rule, words) => {
    const wrong = [rule].flat() as never[];
    expect(() => entity("post", { title: string }).rules({ read: wrong })).toThrow(words);
    expect(() => string.readable(wrong)).toThrow(ConfigurationError);
  });

  it("is found through its builder, and through itself", () => {
    const definition = user.build();
    expect(resolveEntity(definition)).toBe(definition);
    expect(resolveEntity(user)).toEqual(definition);
  });
});

describe("rules given as objects", () => {
  const rule = (name: string) => ({ name, evaluate: () => true });
  const [one, two, three] = [rule("one"), rule("two"), rule("three")];

  it("are stored by name beside the names, and frozen, also in fields", () => {
    const both = { name: "all(two,admin)", parts: [two, "admin"] };
    const { rules, ruleObjects } = entity("thing", { name: string.readable(three).writable("admin", [three]) })
      .rules({ read: [one, "admin"], update: [both, { name: "owner" }] })
      .build();
    expect(rules).toEqual({ read: ["one", "admin"], update: ["all(two,admin)", "owner"] });
    expect(ruleObjects).toEqual({ one, two, three });
    expect(Object.isFrozen(ruleObjects)).toBe(true);
  });

  it("count only in the last call", () => {
    const field = string.readable(one).readable(two);
    const { ruleObjects } = entity("thing", { name: field })
      .rules({ read: [three] })
      .rules({ read: ["admin"] })
      .build();
    expect(ruleObjects).toEqual({ two });
  });
});

describe("a definition is refused", () => {
  it.each(["id", "createdAt", "updatedAt", "version", "include", "select", "q", "format", "constructor", "prototype"])(
    "when a field is called %s",
    (name) => {
      expect(problemsWith({ [name]: string })).toContain(`post.${name}: "${name}" is a reserved name`);
      expect(problemsWith({ author: belongsTo(() => user).foreignKey(name) })).toContain(
        `post.author: "${name}" is a reserved name`,
      );
    },
  );

  it.each(["_x", "__proto__", "_"])("when a field is called %s, which begins with an underscore", (name) => {
    expect(problemsWith({ [name]: string })).toEqual([`post.${name}: names that begin with "_" are reserved`]);
  });

  it.each(["", "1st", "a-b", "a b", "a.b", "a__b", "a_", "naïve", "a$", "a\n"])("when a field is called %j", (name) => {
    expect(problemsWith({ [name]: string })).toEqual([
      `post.${name}: a name is letters, digits and single underscores, beginning with a letter`,
    ]);
  });

  it.each(["", "1st", "a-b", "a b", "_a", "__proto__", "a/b"])("when the entity is called %j", (name) => {
    expect(problemsOf(() => entity(name, { title: string }))).toEqual([
      `entity "${name}": a name is letters, digits and single underscores, beginning with a letter`,
    ]);
  });

  it.each(["title", "a1", "snake_case", "A", "toString", "views_gte"])(
    "unless a field is called %s, which is allowed",
    (name) => {
      expect(problemsWith({ [name]: string })).toEqual([]);
    },
  );

  it.each<[string, FieldMap, string]>([
    [
      "hashes and encrypts a field",
      { pw: string.password().encrypted() },
      "post.pw: a field is hashed (.password()) or encrypted (.encrypted()), not both",
    ],
    [
      "encrypts and hashes a field",
      { pw: string.encrypted({ searchable: true }).password() },
      "post.pw: a field is hashed (.password()) or encrypted (.encrypted()), not both",
    ],
    [
      "trims a password",
      { pw: string.password().trim() },
      "post.pw: a password is taken exactly as submitted; remove .trim()",
    ],
    [
      "lowers a password",
      { pw: string.lower().password() },
      "post.pw: a password is taken exactly as submitted; remove .lower()",
    ],
    [
      "uppers a password",
      { pw: string.password().upper() },
      "post.pw: a password is taken exactly as submitted; remove .upper()",
    ],
    [
      "has a unique password",
      { pw: string.unique().password() },
      "post.pw: a password cannot be .unique(): equal passwords have different hashes",
    ],
    [
      "has a unique encrypted field",
      { ssn: string.unique().encrypted() },
      "post.ssn: .unique() on an encrypted field needs .encrypted({ searchable: true })",
    ],
    ["has a unique json field", { meta: json.unique() }, "post.meta: a json field cannot be .unique()"],
    ["leaves no room between bounds", { views: int.min(5).max(4) }, "post.views: .min(5) is greater than .max(4)"],
    [
      "wants a length its bounds forbid",
      { code: string.length(3).min(4) },
      "post.code: no value has .length(3) and fits .min() and .max() as well",
    ],
    [
      "wants a length above its maximum",
      { code: string.length(3).max(2) },
      "post.code: no value has .length(3) and fits .min() and .max() as well",
    ],
    ["has a bound that is no number", { views: int.min(Number.NaN) }, "post.views: .min() takes a finite number"],
    [
      "has an endless bound",
      { title: string.max(Number.POSITIVE_INFINITY) },
      "post.title: .max() takes a finite number",
    ],
    [
      "empties a key that cannot be empty",
      { author: belongsTo(() => user).onDelete("setNull") },
      'post.author: .onDelete("setNull") needs .optional()',
    ],
    [
      "says on the side without the key what deleting does",
      { comments: hasMany(() => user).onDelete("cascade") },
      "post.comments: .onDelete() belongs to the side with the key (belongsTo)",
    ],
    [
      "uses the name of a foreign key",
      { authorId: string, author: belongsTo(() => user) },
      'post.author: the name "authorId" is already used by post.authorId',
    ],
    [
      "gives two keys one name",
      { author: belongsTo(() => user).foreignKey("by"), editor: belongsTo(() => user).foreignKey("by") },
      'post.editor: the name "by" is already used by post.author',
    ],
    [
      "calls a key like its relation",
      { author: belongsTo(() => user).foreignKey("author") },
      'post.author: the name "author" is already used by post.author',
    ],
    [
      "uses the name of a list of links",
      { tags: manyToMany(() => user), tagsIds: string },
      'post.tagsIds: the name "tagsIds" is already used by post.tags',
    ],
  ])("when it %s", (_, fields, problem) => {
    expect(problemsWith(fields)).toEqual([problem]);
  });

  it.each<[string, (builder: EntityBuilder<"post", FieldMap>) => { build(): unknown }, string]>([
    [
      "a field owns it",
      (post) => post.ownedBy("title"),
      'post: .ownedBy("title") must name a belongsTo relation, or "id"',
    ],
    [
      "nobody owns it",
      (post) => post.ownedBy("nope"),
      'post: .ownedBy("nope") must name a belongsTo relation, or "id"',
    ],
    [
      "a list owns it",
      (post) => post.ownedBy("comments"),
      'post: .ownedBy("comments") must name a belongsTo relation, or "id"',
    ],
    [
      "the foreign key owns it",
      (post) => post.ownedBy("authorId"),
      'post: .ownedBy("authorId") must name a belongsTo relation, or "id"',
    ],
    [
      "an inherited name owns it",
      (post) => post.ownedBy("toString"),
      'post: .ownedBy("toString") must name a belongsTo relation, or "id"',
    ],
    [
      "an index names no column",
      (post) => post.index(["author"]),
      'post: an index names "author", which is not a column; foreign keys go by their own name (authorId)',
    ],
    [
      "a unique index names no column",
      (post) => post.unique(["title", "nope"]),
      'post: an index names "nope", which is not a column; foreign keys go by their own name (authorId)',
    ],
    ["an index names nothing", (post) => post.unique([]), "post: an index needs at least one column"],
    ["an index is over json", (post) => post.index(["meta"]), "post: a json field cannot be indexed (meta)"],
    [
      "rules have an access that does not exist",
      (post) => post.rules({ raed: [] } as never),
      'post: .rules() has no access "raed"; there are create, read, update, delete',
    ],
  ])("when %s", (_, change, problem) => {
    const fields: FieldMap = {
      title: string,
      meta: json,
      author: belongsTo(() => user),
      comments: hasMany(() => user),
    };
    expect(problemsOf(() => change(entity("post", fields)))).toEqual([problem]);
  });

  it("with all its problems at once", () => {
    const build = (): unknown =>
      entity("1post", {
        id: string,
        pw: string.password().encrypted().trim(),
        views: int.min(2).max(1),
        q: json.unique(),
      })
        .ownedBy("nope" as never)
        .index(["nope"])
        .build();
    expect(build).toThrow(ConfigurationError);
    expect(build).toThrow(/9 problems in the configuration:\n {2}- /);
  });

  it("when a member is neither a field nor a relation", () => {
    const cases: [unknown, string][] = [
      [undefined, "undefined"],
      [null, "null"],
      ["string", "text"],
      [{}, "an object"],
      [string.min, "a method"],
    ];
    for (const [member, what] of cases)
      expect(() => entity("post", { title: member } as never), what).toThrow(
        new ConfigurationError("post.title is neither a field nor a relation"),
      );
  });

  it("but not if it is only unusual", () => {
    const fields = {
      at: datetime.unique(),
      ssn: string.unique().encrypted({ searchable: true }),
      pw: string.password().min(8).max(100).optional(),
      status: enums("a").default("a").unique(),
      profile: hasOne(() => user),
      parent: selfRef().optional().onDelete("setNull"),
      code: string.length(3).min(3).max(3),
    };
    expect(
      problemsOf(() => entity("post", fields).ownedBy("id").unique(["at", "parentId"]).index(["createdAt"])),
    ).toEqual([]);
    expect(problemsOf(() => entity("empty", {}).timestamps(false))).toEqual([]);
  });
});
