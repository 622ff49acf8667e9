import { Allow, describeEntity, Fields, Relations, remult, Validators } from "remult";
import { v7 as uuid } from "uuid";

/** A user. */
export class User {
  id = "";
  name = "";
  email = "";
  role = "";
}

describeEntity(
  User,
  "user",
  { id: Fields.id(), name: Fields.string(), email: Fields.string(), role: Fields.string() },
  { dbName: "user", allowApiRead: true, allowApiCrud: false },
);

/** A post. */
export class Post {
  id = "";
  title = "";
  body = "";
  published = false;
  views = 0;
  authorId = "";
  author?: User;
  createdAt = new Date(0);
  updatedAt = new Date(0);
}

// Values of another type are converted, not refused, unless a rule of the app's own looks at the length of what came of it.
const textOf = (largest: number) => [Validators.required(), Validators.maxLength(largest)];

describeEntity(
  Post,
  "post",
  {
    id: Fields.id({ idFactory: () => uuid() }),
    title: Fields.string({ validate: textOf(255) }),
    body: Fields.string({ validate: textOf(10_000) }),
    published: Fields.boolean(),
    views: Fields.integer({ validate: Validators.min(0) }),
    authorId: Fields.string({ allowApiUpdate: false }),
    author: Relations.toOne(() => User, "authorId"),
    createdAt: Fields.createdAt(),
    updatedAt: Fields.updatedAt(),
  },
  {
    dbName: "post",
    allowApiRead: true,
    allowApiInsert: Allow.authenticated,
    allowApiUpdate: (post) => post?.authorId === remult.user?.id,
    saving(post, { isNew }) {
      if (isNew) post.authorId = remult.user?.id ?? "";
    },
  },
);
