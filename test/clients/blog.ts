import { belongsTo, bool, entity, hasMany, int, type Keelson, keelson, memoryDriver, string, text } from "keelson";
import { serve } from "keelson/node";

const user = entity("user", { name: string }).rules({ read: ["everyone"] });
const post = entity("post", {
  title: string.min(3),
  body: text.optional(),
  views: int.default(0),
  published: bool.default(false),
  author: belongsTo(() => user),
  comments: hasMany(() => comment),
}).rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] });
const comment = entity("comment", { text: string, post: belongsTo(() => post).onDelete("cascade") }).rules({
  read: ["everyone"],
});

/** A served blog for clients that know nothing of Keelson: 30 posts by two people, 12 comments on the first post. */
export interface Blog {
  /** Root of the API, as clients are configured with it. */
  readonly url: string;
  readonly api: Keelson<[typeof user, typeof post, typeof comment]>;
  close(): Promise<void>;
}

export async function serveBlog(): Promise<Blog> {
  const number = (i: number): string => String(i).padStart(2, "0");
  const api = keelson({
    entities: [user, post, comment],
    driver: memoryDriver({
      user: [
        { id: "ann", name: "Ann" },
        { id: "bob", name: "Bob" },
      ],
      post: Array.from({ length: 30 }, (_, i) => ({
        id: `post-${number(i + 1)}`,
        title: `Post ${number(i + 1)}`,
        views: (i + 1) * 10,
        published: i % 2 === 0,
        authorId: i < 20 ? "ann" : "bob",
      })),
      comment: Array.from({ length: 12 }, (_, i) => ({
        id: `comment-${number(i + 1)}`,
        text: `Comment ${number(i + 1)}`,
        postId: "post-01",
      })),
    }),
  }) as Blog["api"];
  const served = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false });
  return { url: `http://127.0.0.1:${served.port}/api`, api, close: () => served.close() };
}
