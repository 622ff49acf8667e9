import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { SignJWT } from "jose";
import { entity, enums, keelson, noopLogger, prisma, string } from "keelson";
import type { AnyPrismaClient } from "keelson/prisma";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { clientOfSchema } from "../support/generate-client.ts";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

vi.stubEnv("JWT_SECRET", "a secret of this test, long enough");

const TABLES = `
  CREATE TYPE "Status" AS ENUM ('open', 'done');
  CREATE TABLE users (id text PRIMARY KEY, name text NOT NULL, email text UNIQUE NOT NULL, password_hash text NOT NULL,
    role text NOT NULL DEFAULT 'member', created_at timestamp(3) NOT NULL DEFAULT now(), updated_at timestamp(3) NOT NULL);
  CREATE TABLE projects (id text PRIMARY KEY, name text NOT NULL, archived boolean NOT NULL DEFAULT false,
    owner_id text NOT NULL REFERENCES users, created_at timestamp(3) NOT NULL DEFAULT now(), updated_at timestamp(3) NOT NULL);
  CREATE TABLE tasks (id text PRIMARY KEY, title text NOT NULL, notes text, status "Status" NOT NULL DEFAULT 'open',
    due_at timestamp(3), project_id text NOT NULL REFERENCES projects, assignee_id text REFERENCES users,
    created_at timestamp(3) NOT NULL DEFAULT now(), updated_at timestamp(3) NOT NULL);`;
const ROWS = `
  INSERT INTO users (id, name, email, password_hash, role, updated_at) VALUES
    ('ann', 'Ann', 'ann@x', 'hash', 'member', now()), ('bob', 'Bob', 'bob@x', 'hash', 'member', now()),
    ('root', 'Root', 'root@x', 'hash', 'admin', now());
  INSERT INTO projects (id, name, owner_id, updated_at) VALUES ('p1', 'Ship', 'ann', now()), ('p2', 'Dock', 'bob', now());
  INSERT INTO tasks (id, title, project_id, assignee_id, due_at, updated_at) VALUES
    ('t1', 'Lay the keel', 'p1', NULL, '2030-01-01', now()), ('t2', 'Set the mast', 'p1', 'bob', '2030-01-03', now()),
    ('t3', 'Pump the dock', 'p2', 'bob', '2030-01-02', now());`;

let page: Page;
let folder = "";
let url = "";
let drop: () => Promise<void>;
let client: AnyPrismaClient;

beforeAll(async () => {
  page = openPage("guides/migrate-from-express-prisma");
  folder = dirname(page.file("entities.ts"));
  mkdirSync(folder, { recursive: true });
  for (const [, name, code] of page.text.matchAll(/^```js\n\/\/ (\S+)\n([\s\S]*?)^```/gm))
    writeFileSync(join(folder, name as string), code as string);
  const [, models] = /^```prisma\n([\s\S]*?)^```/m.exec(page.text) as unknown as [string, string];
  ({ url, drop } = await freshPostgres());
  const generators = 'generator client {\n  provider = "prisma-client"\n  output = "."\n}\n';
  const Client = await clientOfSchema(
    `${generators}datasource db {\n  provider = "postgresql"\n}\n${models}`,
    "postgresql",
  );
  client = new Client({ adapter: new PrismaPg({ connectionString: url }) });
});
afterAll(async () => {
  await client.$disconnect();
  await drop();
  page.remove();
});

const load = async (name: string) => import(pathToFileURL(join(folder, name)).href);

async function sql(statements: string): Promise<void> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  await connection.query(statements).finally(() => connection.end());
}

async function listen(listener: RequestListener): Promise<{ origin: string; close(): void }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}

const tokenOf = (id: string) =>
  new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(id)
    .sign(new TextEncoder().encode(process.env.JWT_SECRET));

/** The client stays open for the next app. */
const kept = () =>
  new Proxy(client, { get: (of, name) => (name === "$disconnect" ? async () => {} : Reflect.get(of, name)) });

const APPS = {
  old: async (): Promise<RequestListener> => (await load("old-app.js")).createApp(client),
  new: async (): Promise<RequestListener> => {
    const { createApi } = await load("api.ts");
    const { userOf } = await load("auth.js");
    const api = createApi(kept(), userOf);
    await api.ready;
    return (await load("new-app.js")).createApp(client, api);
  },
  // Halfway: tasks have moved, projects have not.
  between: async (): Promise<RequestListener> => {
    const code = readFileSync(join(folder, "new-app.js"), "utf8");
    const line = '    .use("/v1/projects", requireUser(client), projects(client))\n';
    const between = code.replace(/^ {4}\.use\("\/v1", oldQueries\)/m, (text) => line + text);
    expect(between).not.toBe(code);
    writeFileSync(join(folder, "between.js"), `import { projects } from "./projects.js";\n${between}`);
    const { createApi } = await load("api.ts");
    const api = createApi(kept(), (await load("auth.js")).userOf);
    await api.ready;
    return (await load("between.js")).createApp(client, api);
  },
} as const;

describe.each(Object.entries(APPS))("the tests of the old app, with the %s one", (_name, createApp) => {
  let origin = "";
  let close = () => {};
  const tokens: Record<string, string> = {};
  beforeAll(async () => {
    await sql(`DROP TABLE IF EXISTS tasks, projects, users; DROP TYPE IF EXISTS "Status"; ${TABLES} ${ROWS}`);
    for (const id of ["ann", "bob", "root"]) tokens[id] = await tokenOf(id);
    ({ origin, close } = await listen(await createApp()));
  });
  afterAll(() => close());

  const send = (method: string, path: string, who?: string, body?: unknown) =>
    request(origin, method, `/v1${path}`, { token: who && tokens[who], body });
  const ids = async (path: string, who: string) =>
    (await send("GET", path, who)).json.map(({ id }: { id: string }) => id);

  it("lists what the caller may see, filtered, in order and in pages", async () => {
    expect(await ids("/tasks", "ann")).toEqual(["t1", "t2"]);
    expect(await ids("/tasks", "bob")).toEqual(["t2", "t3"]);
    expect(await ids("/tasks?sort=-dueAt", "root")).toEqual(["t2", "t3", "t1"]);
    expect(await ids("/tasks?status=done", "root")).toEqual([]);
    const second = await send("GET", "/tasks?sort=dueAt&page=2&limit=2", "root");
    expect([second.json.length, second.json[0].id, second.headers.get("x-total-count")]).toEqual([1, "t2", "3"]);
  });

  it("shows a task without unselected fields, and 404 to others", async () => {
    const { status, json } = await send("GET", "/tasks/t1", "ann");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      title: "Lay the keel",
      notes: null,
      status: "open",
      projectId: "p1",
      assigneeId: null,
    });
    expect(json.dueAt).toBe("2030-01-01T00:00:00.000Z");
    expect(json).not.toHaveProperty("project");
    const foreign = await send("GET", "/tasks/t1", "bob");
    expect([foreign.status, typeof foreign.json.error]).toEqual([404, "string"]);
    expect((await send("GET", "/tasks/nothing", "ann")).status).toBe(404);
  });

  it("creates in the caller's own project, updates and deletes", async () => {
    const body = { title: "  Caulk the hull ", projectId: "p1", dueAt: "2031-05-01T10:00:00.000Z" };
    const created = await send("POST", "/tasks", "ann", body);
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      title: "Caulk the hull",
      status: "open",
      dueAt: body.dueAt,
      assigneeId: null,
    });
    const path = `/tasks/${created.json.id}`;
    const patched = await send("PATCH", path, "ann", { status: "done" });
    expect([patched.status, patched.json.status, patched.json.title]).toEqual([200, "done", "Caulk the hull"]);
    expect((await send("PATCH", path, "bob", { status: "open" })).status).toBe(404);
    expect((await send("DELETE", "/tasks/t2", "bob")).status).toBe(404); // assigned, but in another user's project
    const gone = await send("DELETE", path, "ann");
    expect([gone.status, gone.json]).toEqual([204, undefined]);
    expect((await send("GET", path, "ann")).status).toBe(404);
  });

  it("refuses invalid input, and other users' projects", async () => {
    for (const body of [{ title: "x", projectId: "p1" }, { title: "A title" }, { title: "A title", projectId: "p2" }]) {
      const { status, json } = await send("POST", "/tasks", "ann", body);
      expect([status, typeof json.error]).toEqual([400, "string"]);
    }
    expect((await send("PATCH", "/tasks/t1", "ann", { status: "lost" })).status).toBe(400);
  });

  it("is 401 without a token, and with an invalid one", async () => {
    expect((await send("GET", "/tasks")).status).toBe(401);
    const { status, json } = await request(origin, "GET", "/v1/tasks", { token: "nonsense" });
    expect([status, json.error]).toEqual([401, "Please log in"]);
  });

  it("archives a project with its open tasks, for its owner only", async () => {
    expect(await ids("/projects", "ann")).toEqual(["p1"]);
    expect((await send("POST", "/projects/p1/archive", "bob")).status).toBe(404);
    const { status, json } = await send("POST", "/projects/p1/archive", "ann");
    expect([status, json.archived]).toEqual([200, true]);
    expect(await ids("/tasks?status=open", "root")).toEqual(["t3"]);
  });

  it("reports each user's open work", async () => {
    expect((await send("GET", "/reports/workload", "bob")).json).toEqual([{ assigneeId: "bob", open: 1 }]);
    expect((await send("GET", "/reports/workload")).status).toBe(401);
  });
});

describe("docs/guides/migrate-from-express-prisma.md", () => {
  beforeAll(() => sql(`DROP TABLE IF EXISTS tasks, projects, users; DROP TYPE IF EXISTS "Status"; ${TABLES} ${ROWS}`));

  async function both() {
    const started = [await listen(await APPS.old()), await listen(await APPS.new())] as const;
    onTestFinished(() => {
      for (const { close } of started) close();
    });
    return started.map(({ origin }) => origin) as [string, string];
  }

  it("compares two servers, and shows the differences", async () => {
    const { compare } = await page.load<{
      compare(urls: readonly string[], paths: readonly string[], token: string): Promise<{ path: string }[]>;
    }>("compare.ts");
    const urls = await both();
    const paths = ["/v1/tasks", "/v1/tasks?sort=-dueAt&limit=1", "/v1/tasks/t1", "/v1/tasks/t3", "/v1/projects"];
    for (const who of ["ann", "bob", "root"]) expect(await compare(urls, paths, await tokenOf(who))).toEqual([]);
    const asRoot = await compare(urls, ["/v1/tasks?colour=red", "/v1/tasks?limit=5000"], await tokenOf("root"));
    expect(asRoot).toMatchObject([
      { old: { status: 200 }, new: { status: 400 } },
      { old: { status: 200 }, new: { status: 400 } },
    ]);
  });

  it("is 503 and not 401 while users cannot be read", async () => {
    const [old, now] = await both();
    await sql("ALTER TABLE users RENAME TO gone");
    onTestFinished(() => sql("ALTER TABLE gone RENAME TO users"));
    const token = await tokenOf("ann");
    const statuses = [old, now].map(async (origin) => (await request(origin, "GET", "/v1/tasks", { token })).status);
    expect(await Promise.all(statuses)).toEqual([401, 503]);
  });

  it("reads and writes tables and columns with other names, and searches them", async () => {
    const [, now] = await both();
    const token = await tokenOf("root");
    const get = async (query: string) => (await request(now, "GET", `/v1/tasks?${query}`, { token })).json;
    expect((await get("title_like=keel")).map(({ id }: { id: string }) => id)).toEqual(["t1"]);
    expect(await get("title_like=100%25_")).toEqual([]);
    expect((await get("project.name=Dock&include=project")).map((task: { project: object }) => task.project)).toEqual([
      expect.objectContaining({ name: "Dock", ownerId: "bob" }),
    ]);
    expect(await get("assigneeId=bob&include=assignee&_limit=1")).toMatchObject([
      { assigneeId: "bob", assignee: null },
    ]);
    const body = { title: "A title", projectId: "p1", colour: "red" };
    expect((await request(now, "POST", "/v1/tasks", { token, body })).status).toBe(400);
  });

  it("only compares the values of an enum", async () => {
    const [, now] = await both();
    const token = await tokenOf("root");
    const ask = (query: string) => request(now, "GET", `/v1/tasks?${query}`, { token });
    for (const query of ["status=open", "status_ne=done", "status_in=open,done", "_sort=-status"])
      expect((await ask(query)).json).toHaveLength(3);
    const next = (await ask("_sort=status&_limit=1")).headers.get("x-next-cursor") as string;
    expect((await ask("status_like=op")).status).toBe(500);
    expect((await ask(`_sort=status&_limit=1&_after=${next}`)).status).toBe(500);
  });

  it("cannot create a record if a required column is missing in the entity", async () => {
    const { createApi } = await load("api.ts");
    const api = createApi(kept(), (await load("auth.js")).userOf);
    onTestFinished(() => api.close());
    await expect(api.asSystem().user.create({ name: "Eve", role: "member" })).rejects.toMatchObject({ status: 500 });
  });

  it("does not start with a client that lacks a field", async () => {
    const other = entity("task", { title: string, colour: string });
    const app = keelson({ entities: [other], driver: prisma(kept()), logger: noopLogger });
    await expect(app.ready).rejects.toThrow('model task of the Prisma client has no field "colour"');
    const wrong = keelson({
      entities: [entity("chore", { title: string })],
      driver: prisma(kept()),
      logger: noopLogger,
    });
    await expect(wrong.ready).rejects.toThrow('no model "chore"');
  });

  it("cannot search for % on SQLite in tables with other names", async () => {
    const { file, remove } = await freshSqliteFile();
    const model =
      'model Task {\n  id String @id\n  title String @map("task_title")\n  kind String\n  @@map("tasks")\n}\n';
    const generators = 'generator client {\n  provider = "prisma-client"\n  output = "."\n}\n';
    const Client = await clientOfSchema(`${generators}datasource db {\n  provider = "sqlite"\n}\n${model}`, "sqlite");
    const sqlite = new Client({ adapter: new PrismaLibSql({ url: `file:${file}` }) });
    const run = sqlite.$queryRawUnsafe.bind(sqlite) as unknown as (text: string) => Promise<unknown>;
    await run("CREATE TABLE tasks (id TEXT PRIMARY KEY, task_title TEXT NOT NULL, kind TEXT NOT NULL)");
    const task = entity("task", { title: string, kind: enums("a", "b") })
      .timestamps(false)
      .rules({ read: ["everyone"], create: ["everyone"] });
    const app = await startApp(keelson({ entities: [task], driver: prisma(sqlite), logger: noopLogger }));
    onTestFinished(async () => {
      await app.close();
      await remove();
    });
    const body = { title: "100%", kind: "a" };
    expect((await request(app.url, "POST", "/api/tasks", { body })).status).toBe(201);
    const found = async (query: string) => (await request(app.url, "GET", `/api/tasks?${query}`)).status;
    expect([await found("title=100%25"), await found("title_like=100"), await found("title_like=100%25")]).toEqual([
      200, 200, 500,
    ]);
  });
});
