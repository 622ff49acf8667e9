import {
  belongsTo,
  bigint,
  bool,
  type EntityLike,
  entity,
  hasMany,
  int,
  keelson,
  memoryDriver,
  string,
  text,
  uuid,
} from "keelson";
import { serve } from "keelson/node";

const every = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };

/** Kinds of ids: given texts, numbers of the database, and UUIDs. */
export const ID_KINDS = ["string", "int", "bigint", "uuid"] as const;
export type IdKind = (typeof ID_KINDS)[number];

interface WithId {
  id(kind: unknown): EntityLike;
}

function entitiesWith(kind: IdKind): readonly EntityLike[] {
  const field = { string, int, bigint, uuid }[kind];
  const withId = (builder: unknown): EntityLike => (builder as WithId).id(field);
  const user = withId(entity("user", { name: string }).rules(every));
  const post = withId(
    entity("post", {
      title: string.min(3),
      body: text.optional(),
      views: int.default(0),
      published: bool.default(false),
      author: belongsTo(() => user),
      comments: hasMany(() => comment),
    }).rules(every),
  );
  const comment = withId(
    entity("comment", { text: string, post: belongsTo(() => post).onDelete("cascade") }).rules(every),
  );
  return [user, post, comment];
}

type Id = string | number;

/** A served blog for generic clients: 30 posts by two people, 12 comments on the first post. */
export interface Blog {
  /** Root of the API, as in the clients' configuration. */
  readonly url: string;
  /** The ids of the two people, and of the posts, in order. */
  readonly ann: Id;
  readonly bob: Id;
  readonly posts: readonly Id[];
  /** The id of no post. */
  readonly gone: Id;
  /** The required values of a new post. */
  ids(): object;
  close(): Promise<void>;
}

export async function serveBlog(kind: IdKind = "string"): Promise<Blog> {
  const api = keelson({ entities: entitiesWith(kind) as never, driver: memoryDriver() });
  const served = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false });
  const url = `http://127.0.0.1:${served.port}/api`;
  async function create(path: string, id: string, data: object): Promise<Id> {
    const body = JSON.stringify(kind === "string" ? { id, ...data } : data);
    const response = await fetch(`${url}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const made = (await response.json()) as { id: Id };
    if (response.status !== 201) throw new Error(JSON.stringify(made));
    return made.id;
  }
  const number = (i: number): string => String(i).padStart(2, "0");
  const [ann, bob] = [await create("users", "ann", { name: "Ann" }), await create("users", "bob", { name: "Bob" })];
  const posts: Id[] = [];
  for (let i = 0; i < 30; i++)
    posts.push(
      await create("posts", `post-${number(i + 1)}`, {
        title: `Post ${number(i + 1)}`,
        views: (i + 1) * 10,
        published: i % 2 === 0,
        authorId: i < 20 ? ann : bob,
      }),
    );
  for (let i = 1; i <= 12; i++)
    await create("comments", `comment-${number(i)}`, { text: `Comment ${number(i)}`, postId: posts[0] });
  let given = 0;
  const ids = (): object => (kind === "string" ? { id: `new-${given++}` } : {});
  const gone = { string: "gone", int: 999, bigint: "999", uuid: "00000000-0000-7000-8000-000000000000" }[kind];
  return { url, ann, bob, posts, gone, ids, close: () => served.close() };
}
