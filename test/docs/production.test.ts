import type { Server } from "node:http";
import type { Keelson } from "keelson";
import { bool, entity, keelson, memoryDriver, noopLogger, postgres, string, toggleAction } from "keelson";
import { serve } from "keelson/node";
import { openMigrations } from "keelson/prisma";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { COMMANDS, type CommandTree } from "../../src/cli/command-tree.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { request } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";
import { gateTo } from "../support/tcp-gate.ts";

type Env = Readonly<Record<string, string>>;
type Started = { readonly api: Keelson; readonly server: Server; close(): Promise<void> };

const SECRETS = { ENCRYPTION_KEY: "ab".repeat(32), JWT_SECRET: "a secret of this test, long enough for it", PORT: "0" };

let page: Page;
let database: { url: string; drop(): Promise<void> };
beforeAll(async () => {
  vi.stubEnv("NODE_ENV", "production");
  vi.spyOn(process.stdout, "write").mockImplementation(() => true); // the app's log
  page = openPage("guides/production");
  database = await freshPostgres();
  await migrate(database.url);
  await sql(
    database.url,
    "INSERT INTO member (id, name, email, \"createdAt\", \"updatedAt\") VALUES ('eve', 'Eve', 'eve@shop.example', now(), now())",
  );
});
afterAll(async () => {
  await database.drop();
  page.remove();
});

async function start(env: Partial<Env> = {}): Promise<{ origin: string; api: Keelson }> {
  const module = await page.load<{ start(env: Partial<Env>): Promise<Started> }>("server.ts");
  const { api, server, close } = await module.start({ DATABASE_URL: database.url, ...SECRETS, ...env });
  onTestFinished(close);
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  expect([server.keepAliveTimeout, server.headersTimeout]).toEqual([65_000, 10_000]);
  return { origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`, api };
}

async function sql(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(statement).finally(() => client.end());
}

async function migrate(url: string): Promise<void> {
  const { file, remove } = await freshSqliteFile();
  const { createConfig } = await page.load<{ createConfig(env: Env): { entities: never[] } }>("config.ts");
  const { entities } = createConfig({ DATABASE_URL: url, ...SECRETS });
  const target = { provider: "postgresql", url } as const;
  const migrations = await openMigrations({ entities, target, directory: `${file}-migrations` });
  await migrations.create("first");
  await migrations.deploy();
  await migrations.close();
  await remove();
}

describe("docs/guides/production.md", () => {
  it("does not start before the migrations, and changes no table", async () => {
    const empty = await freshPostgres();
    onTestFinished(empty.drop);
    await expect(start({ DATABASE_URL: empty.url })).rejects.toThrow("The database does not fit the entities");
    expect((await sql(empty.url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).rows).toEqual([]);
    await migrate(empty.url);
    const { origin } = await start({ DATABASE_URL: empty.url });
    expect((await request(origin, "GET", "/health/ready")).status).toBe(200);
  });

  it("starts on tables of a later version if it can work with them", async () => {
    const later = await freshPostgres();
    onTestFinished(later.drop);
    await migrate(later.url);
    await sql(later.url, 'ALTER TABLE member ADD COLUMN "nickname" text');
    await (await start({ DATABASE_URL: later.url })).api.close();
    await sql(later.url, "ALTER TABLE member ALTER COLUMN nickname SET NOT NULL");
    await expect(start({ DATABASE_URL: later.url })).rejects.toThrow(/column "nickname" is required, has no default/);
    await sql(later.url, "ALTER TABLE member ALTER COLUMN nickname SET DEFAULT ''");
    const { createConfig } = await page.load<{ createConfig(env: Env): { entities: never[] } }>("config.ts");
    const { entities } = createConfig({ DATABASE_URL: later.url, ...SECRETS });
    const driver = postgres(later.url, { push: "off" });
    const app = keelson({ entities, driver, encryption: { key: SECRETS.ENCRYPTION_KEY }, logger: noopLogger });
    await app.ready;
    await app.close();
  });

  it("does not start without a key or a secret, or with a cheap password hash", async () => {
    await expect(start({ ENCRYPTION_KEY: "" })).rejects.toMatchObject({ code: "CONFIGURATION_ERROR" });
    await expect(start({ JWT_SECRET: "short" })).rejects.toMatchObject({ code: "CONFIGURATION_ERROR" });
    const cheap = entity("person", { password: string.password({ cost: 7 }) });
    const make = async () => {
      const app = keelson({ entities: [cheap], driver: postgres(database.url), logger: noopLogger });
      await app.ready.finally(() => app.close().catch(() => {}));
    };
    await expect(make()).rejects.toThrow("production needs 8 or more");
  });

  it("hides the document, rules and framework, and sets the headers of the page", async () => {
    const { origin, api } = await start();
    for (const path of ["/docs", "/openapi.json"]) expect((await fetch(origin + path)).status).toBe(404);
    const { headers, json, status } = await request(origin, "GET", "/api/members");
    expect(status).toBe(401);
    expect(json.requestId).toBe(headers.get("x-request-id"));
    const expected = {
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
      vary: "Authorization, Cookie, Origin",
      "strict-transport-security": "max-age=31536000; includeSubDomains",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
    };
    for (const [name, value] of Object.entries(expected)) expect([name, headers.get(name)]).toEqual([name, value]);
    expect([headers.get("x-powered-by"), headers.get("access-control-allow-origin")]).toEqual([null, null]);
    const ann = api.as({ id: "ann" }) as unknown as { member: { delete(id: string): Promise<unknown> } };
    const refused = await ann.member.delete("eve").catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 403 });
    expect((refused as { details?: object }).details ?? {}).toEqual({});
  });

  it("allows only pages of its one origin to read", async () => {
    const { origin } = await start();
    const from = (given: string, method = "GET", headers: Env = {}) =>
      request(origin, method, "/api/members?_limit=1", { headers: { origin: given, ...headers } });
    const own = await from("https://app.example");
    expect(own.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(own.headers.get("access-control-expose-headers")).toContain("X-Total-Count");
    const asked = { "access-control-request-method": "PATCH", "access-control-request-headers": "authorization" };
    const preflight = await from("https://app.example", "OPTIONS", asked);
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, POST, PUT, PATCH, DELETE",
    ]);
    // The headers that keelson/client sends with `ifVersion`, and those that it reads.
    expect(preflight.headers.get("access-control-allow-headers")).toContain("If-Match");
    expect(own.headers.get("access-control-expose-headers")).toContain("X-Next-Cursor");
    for (const method of ["GET", "OPTIONS"])
      expect((await from("https://evil.example", method, asked)).headers.get("access-control-allow-origin")).toBeNull();
  });

  it("refuses bodies and pages over its limits", async () => {
    const { origin } = await start();
    const { createTokenSigner } = await import("keelson/jwt");
    const tokens = { secret: SECRETS.JWT_SECRET, issuer: "https://shop.example", audience: "shop", expiresIn: 60 };
    const token = await createTokenSigner(tokens)({ sub: "eve" });
    const large = { name: "x".repeat(300 * 1024) };
    expect((await request(origin, "PATCH", "/api/members/eve", { token, body: large })).status).toBe(413);
    expect((await request(origin, "GET", "/api/members?_limit=201", { token })).status).toBe(400);
    expect((await request(origin, "GET", "/api/members?_limit=200", { token })).status).toBe(200);
  });

  it("is alive but not ready while the database is unavailable", async () => {
    const gate = await gateTo(database.url);
    await gate.open();
    onTestFinished(() => gate.close());
    const { origin } = await start({ DATABASE_URL: gate.url });
    const statuses = async () => [
      (await request(origin, "GET", "/health/live")).status,
      (await request(origin, "GET", "/health/ready")).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    await gate.close();
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 503]), { timeout: 20_000, interval: 300 });
    await gate.open();
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200]), { timeout: 20_000, interval: 300 });
  });

  it("needs no right to change tables", async () => {
    const name = new URL(database.url).pathname.slice(1).replace("keelson", "app");
    await sql(
      database.url,
      `CREATE ROLE ${name} LOGIN PASSWORD 'app';
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${name}`,
    );
    onTestFinished(async () => void (await sql(database.url, `DROP OWNED BY ${name}; DROP ROLE ${name}`)));
    const url = new URL(database.url);
    url.username = name;
    url.password = "app";
    const { api } = await start({ DATABASE_URL: url.href });
    const { member } = api.asSystem() as unknown as { member: { count(): Promise<number> } };
    expect(await member.count()).toBeGreaterThan(0);
  });

  it("describes the real behaviour of serve", async () => {
    const app = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger });
    const { server, close } = await serve(app, { port: 0, hostname: "127.0.0.1", signals: false });
    onTestFinished(close);
    expect([server.keepAliveTimeout, server.headersTimeout]).toEqual([65_000, 10_000]);
  });

  it("refuses forms by their type, except for an action without a body", async () => {
    const note = entity("note", { text: string, done: bool.default(false) })
      .rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"] })
      .actions({ toggle: toggleAction("done") });
    const driver = memoryDriver({ note: [{ id: "n1", text: "one", done: false }] });
    const app = keelson({ entities: [note], driver, logger: noopLogger });
    const { url, close } = await serve(app, { port: 0, hostname: "127.0.0.1", signals: false });
    onTestFinished(close);
    const submit = (path: string, body: URLSearchParams) => fetch(url + path, { method: "POST", body });
    expect((await submit("/api/notes", new URLSearchParams({ text: "two" }))).status).toBe(415);
    expect((await submit("/api/notes/n1/toggle-done", new URLSearchParams())).status).toBe(200);
  });

  it("names existing commands, and consistent timeouts", () => {
    const lines = [...page.text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) =>
      (block as string).split("\n"),
    );
    const inline = [...page.text.matchAll(/`(keelson [a-z][^`]*)`/g)].map(([, text]) => text as string);
    const commands = [...lines, ...inline].filter((text) => text.startsWith("keelson "));
    expect(commands.length).toBeGreaterThan(10);
    for (const command of commands) {
      let tree: CommandTree | undefined = COMMANDS;
      for (const word of command
        .split(" ")
        .slice(1)
        .filter((text) => !text.startsWith("-"))) {
        const found: CommandTree[string] | undefined = tree?.[word];
        expect([command, found !== undefined]).toEqual([command, true]);
        tree = found && "entries" in found ? found.entries : undefined;
      }
    }
    const seconds = (pattern: RegExp) => Number(pattern.exec(page.text)?.[1]);
    const least = 10 + 5; // gracePeriod, and the time to close
    expect(seconds(/--stop-timeout (\d+)/)).toBeGreaterThan(least);
    expect(seconds(/TimeoutStopSec=(\d+)/)).toBeGreaterThan(least);
    expect(seconds(/terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(least + seconds(/"sleep", "(\d+)"/));
    expect(seconds(/kill_timeout: (\d+)/)).toBeGreaterThan(least * 1000);
  });
});
