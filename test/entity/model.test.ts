import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  type AnyEntity,
  belongsTo,
  createModel,
  type EntityLike,
  type EntityModel,
  entity,
  hasMany,
  hasOne,
  manyToMany,
  type ResolvedRelation,
  selfRef,
  string,
} from "../../src/entity/index.ts";

function relationIn(model: EntityModel, at: string): ResolvedRelation | undefined {
  const [entityName, name] = at.split(".") as [string, string];
  return model.relation(model.get(entityName) as AnyEntity, name);
}

/** Both ends of every relation, as text. */
function shown(entities: readonly EntityLike[]): string[] {
  const model = createModel(entities);
  expect(model.problems).toEqual([]);
  return model.entities.flatMap((one) =>
    model
      .relationsOf(one)
      .map(({ source, name, target, inverse, foreignKey, many }) =>
        [`${source.name}.${name}`, many ? "→→" : "→", `${target.name}.${inverse ?? "-"}`, foreignKey]
          .filter(Boolean)
          .join(" "),
      ),
  );
}

describe("a model", () => {
  it("finds entities and relations by name, and only those", () => {
    const user = entity("user", { name: string, posts: hasMany(() => post) });
    const post = entity("post", { author: belongsTo(() => user) });
    const model = createModel([user, post.build()]);
    expect(model.entities.map(({ name }) => name)).toEqual(["user", "post"]);
    expect(model.get("nope")).toBeUndefined();
    expect(model.get("constructor")).toBeUndefined();
    const stored = model.get("post") as AnyEntity;
    expect(model.relation(stored, "author")?.target).toBe(model.get("user"));
    for (const name of ["nope", "name", "toString", "__proto__"]) expect(model.relation(stored, name)).toBeUndefined();
    expect(model.relationsOf(entity("other", {}).build())).toEqual([]);
  });

  it("cannot be changed", () => {
    const user = entity("user", { friends: manyToMany(() => user), parent: selfRef().optional() });
    const model = createModel([user]);
    const relations = model.relationsOf(model.get("user") as AnyEntity);
    for (const value of [model, model.entities, model.problems, relations, ...relations])
      expect(Object.isFrozen(value)).toBe(true);
  });

  it("takes one of two definitions of a name and says so", () => {
    const model = createModel([entity("tag", { name: string }), entity("tag", { label: string })]);
    expect(model.entities).toHaveLength(1);
    expect(model.problems).toEqual(['entity "tag" is defined twice']);
  });

  it("has no problem with a builder that was changed since others pointed to it", () => {
    const user = entity("user", { name: string });
    const post = entity("post", { author: belongsTo(() => user) });
    const model = createModel([user.plural("people").timestamps(false), post]);
    expect(model.problems).toEqual([]);
    expect(relationIn(model, "post.author")?.target).toMatchObject({ plural: "people", timestamps: false });
  });
});

describe("relations", () => {
  it("find their other sides and keys", () => {
    const user = entity("user", { posts: hasMany(() => post), profile: hasOne(() => profile) });
    const profile = entity("profile", { user: belongsTo(() => user).unique() });
    const post = entity("post", { author: belongsTo(() => user).foreignKey("writtenBy"), tags: manyToMany(() => tag) });
    const tag = entity("tag", { posts: manyToMany(() => post) });
    const category = entity("category", { parent: selfRef().optional(), children: hasMany(() => category) });
    expect(shown([user, profile, post, tag, category])).toEqual([
      "user.posts →→ post.author writtenBy",
      "user.profile → profile.user userId",
      "profile.user → user.profile userId",
      "post.author → user.posts writtenBy",
      "post.tags →→ tag.posts",
      "tag.posts →→ post.tags",
      "category.parent → category.children parentId",
      "category.children →→ category.parent parentId",
    ]);
  });

  it("need no other side", () => {
    const user = entity("user", {});
    const post = entity("post", { author: belongsTo(() => user), likers: manyToMany(() => user) });
    expect(shown([user, post])).toEqual(["post.author → user.- authorId", "post.likers →→ user.-"]);
  });

  it("say what deleting does: restrict, setNull when optional, or what was said", () => {
    const user = entity("user", {});
    const post = entity("post", {
      author: belongsTo(() => user),
      editor: belongsTo(() => user).optional(),
      reviewer: belongsTo(() => user)
        .optional()
        .onDelete("cascade"),
      owner: belongsTo(() => user).onDelete("restrict"),
    });
    const model = createModel([user, post]);
    const actions = model
      .relationsOf(model.get("post") as AnyEntity)
      .map(({ onDelete, optional }) => `${onDelete} ${optional}`);
    expect(actions).toEqual(["restrict false", "setNull true", "cascade true", "restrict false"]);
  });

  it("are told apart by .inverse() on either side, or by the key", () => {
    const sides = (fields: () => Parameters<typeof entity>[1], posts: () => Parameters<typeof entity>[1]): string[] => {
      const user: EntityLike = entity("user", fields());
      const post: EntityLike = entity("post", posts());
      target.user = user;
      target.post = post;
      return shown([user, post]);
    };
    const target: Record<string, EntityLike> = {};
    const toUser = () => target.user;
    const toPost = () => target.post;
    const expected = [
      "user.posts →→ post.author authorId",
      "user.edited →→ post.editor editorId",
      "post.author → user.posts authorId",
      "post.editor → user.edited editorId",
    ];
    const keys = { author: belongsTo(toUser), editor: belongsTo(toUser) };
    const lists = { posts: hasMany(toPost), edited: hasMany(toPost) };
    expect(
      sides(
        () => ({ posts: hasMany(toPost).inverse("author"), edited: hasMany(toPost).inverse("editor") }),
        () => keys,
      ),
    ).toEqual(expected);
    expect(
      sides(
        () => ({ posts: hasMany(toPost).foreignKey("authorId"), edited: hasMany(toPost).foreignKey("editorId") }),
        () => keys,
      ),
    ).toEqual(expected);
    expect(
      sides(
        () => lists,
        () => ({ author: belongsTo(toUser).inverse("posts"), editor: belongsTo(toUser).inverse("edited") }),
      ),
    ).toEqual(expected);
    expect(
      sides(
        () => ({ ...lists, edited: hasMany(toPost).inverse("editor") }),
        () => ({ author: belongsTo(toUser).inverse("posts"), editor: belongsTo(toUser) }),
      ),
    ).toEqual(expected);
  });

  it("may follow one key twice", () => {
    const user = entity("user", { posts: hasMany(() => post), articles: hasMany(() => post) });
    const post = entity("post", { author: belongsTo(() => user) });
    expect(shown([user, post])).toEqual([
      "user.posts →→ post.author authorId",
      "user.articles →→ post.author authorId",
      "post.author → user.posts authorId",
    ]);
  });

  it("of many to many find each other, or neither does", () => {
    const post = entity("post", { tags: manyToMany(() => tag), hidden: manyToMany(() => tag) });
    const tag = entity("tag", { posts: manyToMany(() => post).inverse("tags") });
    expect(shown([post, tag])).toEqual(["post.tags →→ tag.posts", "post.hidden →→ tag.-", "tag.posts →→ post.tags"]);
    const article = entity("article", {
      labels: manyToMany(() => label).inverse("articles"),
      other: manyToMany(() => label),
    });
    const label = entity("label", { articles: manyToMany(() => article) });
    expect(shown([article, label])).toEqual([
      "article.labels →→ label.articles",
      "article.other →→ label.-",
      "label.articles →→ article.labels",
    ]);
  });

  it("of many to many between records of one entity are two things by default", () => {
    const user = entity("user", { friends: manyToMany(() => user), blocked: manyToMany(() => user) });
    expect(shown([user])).toEqual(["user.friends →→ user.-", "user.blocked →→ user.-"]);
    const fan = entity("fan", {
      followers: manyToMany(() => fan),
      follows: manyToMany(() => fan).inverse("followers"),
    });
    expect(shown([fan])).toEqual(["fan.followers →→ fan.follows", "fan.follows →→ fan.followers"]);
  });

  it("to another service need no entity of this app", () => {
    const account = entity("account", { name: string });
    const post = entity("post", {
      account: belongsTo(() => account).remote("accounts"),
      buyer: belongsTo(() => account)
        .remote()
        .optional(),
    });
    expect(shown([post])).toEqual(["post.account → account.- accountId", "post.buyer → account.- buyerId"]);
    const model = createModel([post]);
    expect(model.get("account")).toBeUndefined();
    expect(relationIn(model, "post.account")?.remote).toEqual({ service: "accounts" });
  });
});

describe("a problem is reported, and nothing is thrown,", () => {
  const problems = (entities: readonly EntityLike[]): readonly string[] => createModel(entities).problems;
  const user = entity("user", { name: string });

  it("when the related entity is not part of the app", () => {
    expect(problems([entity("post", { author: belongsTo(() => user) })])).toEqual([
      'post.author: the related entity "user" is not part of this app; add it to `entities`',
    ]);
  });

  it("when the related entity does not exist", () => {
    const early = (): never => {
      throw new ReferenceError("Cannot access 'user' before initialization");
    };
    const post = entity("post", {
      author: belongsTo(() => undefined),
      editor: belongsTo(() => null),
      owner: belongsTo(early),
    });
    expect(problems([post])).toEqual(
      ["author", "editor", "owner"].map((name) => `post.${name}: the related entity is undefined`),
    );
  });

  it("when definitions are wrong in themselves, without blaming those that point to them", () => {
    const broken = entity("user", { id: string, _x: string });
    const post = entity("post", { author: belongsTo(() => broken), tags: hasMany(() => tag) });
    const tag = entity("tag", { q: string, post: belongsTo(() => post) });
    const account = entity("account", { format: string });
    const order = entity("order", { account: belongsTo(() => account).remote("accounts") });
    expect(problems([broken, post, tag])).toEqual([
      'user.id: "id" is a reserved name',
      'user._x: names that begin with "_" are reserved',
      'tag.q: "q" is a reserved name',
    ]);
    expect(problems([order])).toEqual(['account.format: "format" is a reserved name']);
  });

  it("but for what is no problem of a definition", () => {
    const failure = new RangeError("not a configuration error");
    const failing = {
      build(): never {
        throw failure;
      },
    };
    expect(() => createModel([failing])).toThrow(failure);
  });

  it("when nothing has the key", () => {
    const post = entity("post", { comments: hasMany(() => comment), cover: hasOne(() => comment).inverse("coverOf") });
    const comment = entity("comment", { text: string });
    expect(problems([post, comment])).toEqual([
      "post.comments: comment has no belongsTo relation to post",
      'post.cover: comment has no belongsTo relation to post named "coverOf"',
    ]);
  });

  it("when several keys could be meant", () => {
    const person = entity("person", { posts: hasMany(() => post) });
    const post = entity("post", { author: belongsTo(() => person), editor: belongsTo(() => person) });
    expect(problems([person, post])).toEqual([
      'person.posts: post has several belongsTo relations to person (author, editor); name one with .inverse("author")',
    ]);
  });

  it("when .inverse() names nothing", () => {
    const person = entity("person", {
      posts: hasMany(() => post).inverse("writer"),
      likes: manyToMany(() => post).inverse("fans"),
    });
    const post = entity("post", { author: belongsTo(() => person).inverse("articles") });
    expect(problems([person, post])).toEqual([
      'person.posts: post has no belongsTo relation to person named "writer"',
      'person.likes: post has no manyToMany relation to person named "fans"',
      'post.author: person has no hasMany or hasOne relation to post named "articles"',
    ]);
  });

  it("when manyToMany relations could be paired in several ways", () => {
    const post = entity("post", { tags: manyToMany(() => tag), hidden: manyToMany(() => tag) });
    const tag = entity("tag", { posts: manyToMany(() => post) });
    const meant = "is ambiguous";
    expect(problems([post, tag])).toEqual([
      `post.tags: its other side ${meant} (post: tags, hidden; tag: posts); name one with .inverse("posts")`,
      `post.hidden: its other side ${meant} (post: tags, hidden; tag: posts); name one with .inverse("posts")`,
      `tag.posts: its other side ${meant} (tag: posts; post: tags, hidden); name one with .inverse("tags")`,
    ]);
  });

  it("when relations keep their pairs in one table without being two sides of one relation", () => {
    const ends = { own: "follower", other: "followee" };
    const turned = { own: "followee", other: "follower" };
    const person = entity("person", {
      following: manyToMany(() => person).through("follows", ends),
      followers: manyToMany(() => person).through("Follows", { ...turned, schema: "public" }),
      blocked: manyToMany(() => person).through("blocks", ends),
    });
    expect(problems([person])).toEqual([
      'person.followers: .through("Follows") names the table of person.following; if it is its other side, connect them with .inverse("following"), otherwise rename one of them or give it a table of its own with .through("other_name", { own, other })',
    ]);
    const connected = entity("person", {
      following: manyToMany(() => connected)
        .through("follows", ends)
        .inverse("followers"),
      followers: manyToMany(() => connected)
        .through("follows", turned)
        .inverse("following"),
    });
    expect(problems([connected])).toEqual([]);
  });

  it("when the names of tables of pairs are equal, derived or given", () => {
    const ends = { own: "A", other: "B" };
    const long = "a".repeat(60);
    const hash = createHash("sha256").update(`project_${long}`).digest("hex").slice(0, 8);
    const shortened = `_project_${"a".repeat(45)}_${hash}`;
    const project = entity("project", { admin_users: manyToMany(() => user), [long]: manyToMany(() => user) });
    const derived = entity("project_admin", { users: manyToMany(() => user) });
    const given = entity("team", {
      users: manyToMany(() => user).through("_Project_Admin_Users", ends),
      others: manyToMany(() => user).through(shortened, ends),
      elsewhere: manyToMany(() => user).through(shortened, { ...ends, schema: "app" }),
    });
    const other = 'rename one of them or give it a table of its own with .through("other_name", { own, other })';
    const isShared = `"_project_admin_users", is the table of`;
    expect(problems([user, project, derived])).toEqual([
      `project_admin.users: its table of pairs, ${isShared} project.admin_users; ${other}`,
    ]);
    expect(problems([user, project, given])).toEqual([
      `team.users: .through("_Project_Admin_Users") names the table of project.admin_users; ${other}`,
      `team.others: .through("${shortened}") names the table of project.${long}; ${other}`,
    ]);
    expect(problems([user, given, derived])).toEqual([
      `project_admin.users: its table of pairs, ${isShared} team.users; ${other}`,
    ]);
  });

  it("when an entity has the table of a relation's pairs", () => {
    const post = entity("post", { tags: manyToMany(() => tag) });
    const tag = entity("tag", { posts: manyToMany(() => post) });
    const tagging = entity("tagging", {}).table("_Post_tags");
    expect(problems([post, tag, tagging])).toEqual([
      'post.tags: its table of pairs, "_post_tags", is the table of tagging, whose rules would not apply to pairs; use hasMany(() => tagging) instead',
    ]);
  });

  it("when a manyToMany relation keeps its pairs in the table of an entity", () => {
    const ends = { own: "postId", other: "tagId" };
    const post = entity("post", {
      tags: manyToMany(() => tag).through("tagging", ends),
      hidden: manyToMany(() => tag).through("old", { ...ends, schema: "app" }),
    });
    const page = entity("page", { tags: manyToMany(() => tag).through("TAGGING", { ...ends, schema: "public" }) });
    const tag = entity("tag", {});
    const tagging = entity("tagging", { post: belongsTo(() => post), tag: belongsTo(() => tag) });
    const hiding = entity("hiding", {}).table("old", { schema: "app" }).existing();
    const elsewhere = entity("elsewhere", {}).table("tagging", { schema: "app" }).existing();
    const why = "whose rules would not apply to pairs; use";
    expect(problems([post, page, tag, tagging, hiding])).toEqual([
      `post.tags: .through("tagging") names the table of tagging, ${why} hasMany(() => tagging) instead`,
      `post.hidden: .through("old") names the table of hiding, ${why} hasMany(() => hiding) instead`,
      `page.tags: .through("TAGGING") names the table of tagging, ${why} hasMany(() => tagging) instead`,
    ]);
    expect(problems([post, tag, elsewhere])).toEqual([]);
  });

  it("when two manyToMany relations name the same other side", () => {
    const post = entity("post", {
      tags: manyToMany(() => tag).inverse("posts"),
      hidden: manyToMany(() => tag).inverse("posts"),
    });
    const tag = entity("tag", { posts: manyToMany(() => post) });
    expect(problems([post, tag])).toContain(
      "tag.posts: several relations of post say they are its other side (tags, hidden)",
    );
  });
});

describe("entities of other services", () => {
  const vendor = entity("vendor", { name: string });
  const plan = entity("plan", { title: string, vendor: belongsTo(() => vendor), lines: hasMany(() => vendor) });
  const customer = entity("customer", { name: string, plan: belongsTo(() => plan).remote("billing") });

  it("are what remote relations lead to, and what these lead to in turn", () => {
    const model = createModel([customer]);
    expect(model.problems).toEqual([]);
    expect(model.entities.map(({ name }) => name)).toEqual(["customer"]);
    expect(model.foreign.map(({ name }) => name)).toEqual(["plan", "vendor"]);
    expect(model.get("plan")).toBeUndefined();
  });

  it("have relations, but for those that cannot be resolved", () => {
    const model = createModel([customer]);
    const [foreign] = model.foreign as [AnyEntity];
    expect(model.relationsOf(foreign).map(({ name }) => name)).toEqual(["vendor"]);
    expect(model.relation(foreign, "vendor")?.target).toBe(model.foreign[1]);
  });

  it("are the app's own when these have the name", () => {
    const model = createModel([customer, plan, entity("vendor", { plan: belongsTo(() => plan) })]);
    expect(model.foreign).toEqual([]);
    expect(relationIn(model, "customer.plan")?.target).toBe(model.get("plan"));
  });

  it("are one definition, however many relations lead there", () => {
    const deal = entity("deal", {
      from: belongsTo(() => plan).remote("billing"),
      to: belongsTo(() => plan).remote("billing"),
      next: selfRef().optional(),
    });
    const model = createModel([deal, customer]);
    expect(model.foreign.map(({ name }) => name)).toEqual(["plan", "vendor"]);
    expect(relationIn(model, "deal.from")?.target).toBe(relationIn(model, "customer.plan")?.target);
  });

  it("do not become part of the app by a relation that is not remote", () => {
    const model = createModel([entity("order", { plan: belongsTo(() => plan) })]);
    expect([model.foreign, model.problems]).toEqual([
      [],
      ['order.plan: the related entity "plan" is not part of this app; add it to `entities`'],
    ]);
  });
});
