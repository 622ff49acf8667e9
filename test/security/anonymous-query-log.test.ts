import { PrismaPg } from "@prisma/adapter-pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyPrismaClient } from "../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  entity,
  hasMany,
  type Keelson,
  keelson,
  noopLogger,
  postgres,
  prisma,
  string,
} from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { generatedClient } from "../support/generate-client.ts";
import { request, startApp } from "../support/http.ts";

const user = entity("user", { name: string, notes: hasMany(() => note) })
  .ownedBy("id")
  .rules({ read: ["authenticated"] });
const note = entity("note", { text: string, author: belongsTo(() => user) })
  .ownedBy("author")
  .rules({ read: ["owner"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["admin"] });

/** A client that reports every statement it sends, as the database sees it. */
type LoggingClient = AnyPrismaClient & { $on(event: "query", listener: (event: { query: string }) => void): void };

const statements: string[] = [];
const cleanups: (() => Promise<unknown>)[] = [];
let url: string;

beforeAll(async () => {
  const database = await freshPostgres();
  // Tables first: a client that the app brings must find its tables.
  const tables = keelson({ entities: [user, note], driver: postgres(database.url), logger: noopLogger });
  await tables.ready;
  await tables.asSystem().user.create({ id: "ann", name: "Ann" });
  await tables.asSystem().note.create({ id: "n1", text: "mine", authorId: "ann" });
  await tables.close();

  const PrismaClient = await generatedClient([user, note], "postgresql");
  const adapter = new PrismaPg({ connectionString: database.url });
  const client = new PrismaClient({ adapter, log: [{ emit: "event", level: "query" }] }) as LoggingClient;
  client.$on("query", ({ query }) => void statements.push(query));
  const api = keelson({
    entities: [user, note],
    driver: prisma(client),
    logger: noopLogger,
    getUser: ({ headers }) => (headers.get("authorization") === "Bearer ann" ? { id: "ann" } : null),
  }) as unknown as Keelson;
  const app = await startApp(api);
  url = app.url;
  cleanups.push(app.close, database.drop);
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const doors = ["n1", "missing"].flatMap((id) => [
  ["GET", `/api/notes/${id}`],
  ["GET", `/api/notes/${id}?include=author`],
  ["HEAD", `/api/notes/${id}`],
  ["PUT", `/api/notes/${id}`, { text: "x" }],
  ["PATCH", `/api/notes/${id}`, { author: { id: "ann" } }],
  ["DELETE", `/api/notes/${id}`],
]) as [string, string, unknown?][];
const collections = [
  ["GET", "/api/notes"],
  ["GET", "/api/notes?text_like=m&author.name=Ann&include=author&_sort=-text&nonsense=1"],
  ["POST", "/api/notes", { text: "x", authorId: "ann" }],
  ["GET", "/api/users?notes.text=mine"],
] as [string, string, unknown?][];

describe("the query log", () => {
  it("shows no statement for anonymous callers on protected routes, and one response", async () => {
    statements.length = 0;
    const answers = new Set<string>();
    for (const [method, path, body] of [...doors, ...collections]) {
      const { status, json } = await request(url, method, path, body === undefined ? {} : { body });
      expect(status, `${method} ${path}`).toBe(401);
      if (method !== "HEAD") answers.add(JSON.stringify({ ...(json as object), requestId: "" }));
    }
    expect(statements).toEqual([]);
    expect(answers.size).toBe(1);
  });

  it("shows no statement for a batch whose first item is refused", async () => {
    statements.length = 0;
    const items = ["n1", "missing"].map((id) => ({ method: "DELETE", path: `/notes/${id}` }));
    for (const body of [items, items.toReversed(), []]) {
      const { status } = await request(url, "POST", "/api/batch", { body });
      expect(status).toBe(body.length === 0 ? 200 : 401);
    }
    expect(statements).toEqual([]);
  });

  it("shows statements for a permitted caller, which proves that it records them", async () => {
    statements.length = 0;
    expect((await request(url, "GET", "/api/notes/n1", { token: "ann" })).status).toBe(200);
    expect(statements.join("\n")).toMatch(/SELECT .*"note"/);
  });

  it("shows the owner's condition inside the single statement of an update", async () => {
    statements.length = 0;
    expect((await request(url, "PUT", "/api/notes/n1", { token: "ann", body: { text: "new" } })).status).toBe(200);
    expect(statements).toHaveLength(1);
    expect(statements[0]).toMatch(/^UPDATE .*"authorId" = \$\d+/);
  });
});
