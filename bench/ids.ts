// What ids of whole numbers cost, and tables and columns with names of their own: the same requests to three apps on PostgreSQL
// that differ in these alone.
import {
  belongsTo,
  type EntityLike,
  entity,
  hasMany,
  int,
  keelson,
  noopLogger,
  postgres,
  string,
} from "../src/index.ts";
import { askDatabase, dropDatabase, freshDatabase } from "./database.ts";
import { compareInTurns, type Workloads } from "./take-turns.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_000);
const ROWS = 10_000;
const DATABASE = "keelson_bench_ids";

const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };

function plain(isInt: boolean): readonly EntityLike[] {
  // Ids without `.id()` are texts that Keelson makes.
  const withId = (builder: { id(kind: typeof int): EntityLike }): EntityLike =>
    isInt ? builder.id(int) : (builder as unknown as EntityLike);
  const author = withId(entity("author", { name: string, posts: hasMany(() => post) }).rules(rules));
  const post = withId(entity("post", { title: string, views: int, author: belongsTo(() => author) }).rules(rules));
  return [author, post];
}

function mapped() {
  const author = entity("author", { name: string.column("full name"), posts: hasMany(() => post) })
    .id(int.column("author_no"))
    .table("crm_authors")
    .timestamps({ createdAt: "made_at", updatedAt: "changed_at" })
    .existing()
    .rules(rules);
  const post = entity("post", {
    title: string.column("post title"),
    views: int.column("seen"),
    author: belongsTo(() => author).column("written_by"),
  })
    .id(int.column("post_no"))
    .table("crm_posts")
    .timestamps({ createdAt: "made_at", updatedAt: "changed_at" })
    .existing()
    .rules(rules);
  return [author, post];
}

const MAPPED_TABLES = `
  CREATE TABLE crm_authors (author_no serial PRIMARY KEY, "full name" varchar(255) NOT NULL,
    made_at timestamp(3) NOT NULL DEFAULT now(), changed_at timestamp(3) NOT NULL DEFAULT now());
  CREATE TABLE crm_posts (post_no serial PRIMARY KEY, "post title" varchar(255) NOT NULL, seen integer NOT NULL,
    written_by integer NOT NULL REFERENCES crm_authors, made_at timestamp(3) NOT NULL DEFAULT now(), changed_at timestamp(3) NOT NULL DEFAULT now())`;

const FILL = {
  text: `INSERT INTO author (id, name, "updatedAt") SELECT 'a' || n, 'author ' || n, now() FROM generate_series(1, 100) n;
    INSERT INTO post (id, title, views, "authorId", "updatedAt")
      SELECT 'p' || n, 'post ' || n, n % 1000, 'a' || (n % 100 + 1), now() FROM generate_series(1, ${ROWS}) n`,
  int: `INSERT INTO author (name, "updatedAt") SELECT 'author ' || n, now() FROM generate_series(1, 100) n;
    INSERT INTO post (title, views, "authorId", "updatedAt")
      SELECT 'post ' || n, n % 1000, n % 100 + 1, now() FROM generate_series(1, ${ROWS}) n`,
  mapped: `INSERT INTO crm_authors ("full name") SELECT 'author ' || n FROM generate_series(1, 100) n;
    INSERT INTO crm_posts ("post title", seen, written_by) SELECT 'post ' || n, n % 1000, n % 100 + 1 FROM generate_series(1, ${ROWS}) n`,
};

interface Contender {
  readonly app: Pick<ReturnType<typeof keelson>, "handle" | "ready" | "close">;
  /** In front of the numbers of ids. */
  readonly post: string;
  readonly author: string;
}

const headers = { "content-type": "application/json" };
const post = ({ author }: Contender, turn: number) => {
  const number = (turn % 100) + 1;
  const authorId = author === "" ? number : `${author}${number}`;
  return {
    kind: "bytes",
    bytes: Buffer.from(JSON.stringify({ title: `new ${turn}`, views: turn % 1000, authorId })),
  } as const;
};
const idOf = ({ post }: Contender, turn: number): string => `${post}${((turn * 7_919) % ROWS) + 1}`;
const listOf = (turn: number): string => `/api/posts?views_lte=${(turn * 7) % 1000}&_sort=-views&_total=none&_limit=20`;

const WORKLOADS: Workloads<Contender> = {
  get: (one, turn) => one.app.handle({ method: "GET", url: `/api/posts/${idOf(one, turn)}`, headers: {} }),
  list: ({ app }, turn) => app.handle({ method: "GET", url: listOf(turn), headers: {} }),
  include: ({ app }, turn) => app.handle({ method: "GET", url: `${listOf(turn)}&include=author`, headers: {} }),
  create: (one, turn) => one.app.handle({ method: "POST", url: "/api/posts", headers, body: post(one, turn) }),
  update: (one, turn) =>
    one.app.handle({ method: "PUT", url: `/api/posts/${idOf(one, turn)}`, headers, body: post(one, turn) }),
};

async function open(kind: keyof typeof FILL): Promise<Contender> {
  const database = `${DATABASE}_${kind}`;
  const url = await freshDatabase(database);
  if (kind === "mapped") await askDatabase(database, MAPPED_TABLES);
  const entities = (kind === "mapped" ? mapped() : plain(kind === "int")) as never;
  const app = keelson({ entities, driver: postgres(url), logger: noopLogger });
  await app.ready;
  const tables = kind === "mapped" ? ["crm_posts", "crm_authors"] : ["post", "author"];
  const index = kind === "mapped" ? "crm_posts (seen)" : "post (views)";
  await askDatabase(
    database,
    FILL[kind],
    `CREATE INDEX ON ${index}`,
    ...tables.map((table) => `VACUUM ANALYZE ${table}`),
  );
  return kind === "text" ? { app, post: "p", author: "a" } : { app, post: "", author: "" };
}

const apps = [await open("text"), await open("int"), await open("mapped")] as const;
try {
  const [text, whole, other] = apps;
  const contenders = [
    ["text ids", text],
    ["int ids", whole],
    ["int ids, names of their own", other],
  ] as const;
  await compareInTurns("ids", contenders, WORKLOADS, { rounds: ROUNDS, requests: REQUESTS });
} finally {
  for (const { app } of apps) await app.close();
  for (const kind of Object.keys(FILL)) await dropDatabase(`${DATABASE}_${kind}`);
}
