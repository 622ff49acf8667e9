import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createClient } from "@libsql/client";
import { type Driver, embedded, type Keelson } from "keelson";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { request } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";
import { runShellSession } from "../support/shell-session.ts";
import { membersOf } from "./concepts/members-of.ts";

interface Shop {
  readonly api: Keelson;
}
type Listener = Parameters<typeof createServer>[1];

const SECRET = "a secret of this test, long enough to sign with";
const ann = { name: "Ann", email: "ann@shop.example", password: "correct horse" };

let page: Page;
beforeAll(() => {
  page = openPage("guides/better-auth");
});
afterAll(() => page.remove());

/** A server whose URL is known before its app is created. */
async function listen(): Promise<{ origin: string; answerWith(listener: NonNullable<Listener>): void }> {
  let listener: Listener;
  const server = createServer((incoming, outgoing) => listener?.(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { origin: `http://127.0.0.1:${port}`, answerWith: (given) => void (listener = given) };
}

async function startShop(): Promise<Shop & { origin: string; driver: Driver; file: string }> {
  const { origin, answerWith } = await listen();
  const { file, remove } = await freshSqliteFile();
  const driver = embedded({ file });
  const { createShop } = await page.load<{ createShop(origin: string, secret: string, driver: Driver): Shop }>(
    "shop.ts",
  );
  const shop = createShop(origin, SECRET, driver);
  onTestFinished(async () => {
    await shop.api.close();
    await remove();
  });
  await shop.api.ready;
  answerWith(
    (await page.load<{ createServer(shop: Shop): NonNullable<Listener> }>("express-server.ts")).createServer(shop),
  );
  return { ...shop, origin, driver, file };
}

/** The cookies of a response as a browser sends them back. */
const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");

async function signUp(origin: string, body: object = ann): Promise<{ cookie: string; id: string; headers: Headers }> {
  const { status, headers, json } = await request(origin, "POST", "/auth/sign-up/email", { body, headers: { origin } });
  expect([status, json.user?.email]).toEqual([200, (body as typeof ann).email]);
  return { cookie: cookieOf(headers), id: json.user.id, headers };
}

describe("docs/guides/better-auth.md", () => {
  it("signs up over HTTP, accepts the cookie, and removes it at sign-out", async () => {
    const { origin } = await startShop();
    const { cookie, id, headers: signedUp } = await signUp(origin);
    expect(signedUp.getSetCookie()[0]).toMatch(/HttpOnly/i);
    expect(signedUp.getSetCookie()[0]).toMatch(/SameSite=Lax/i);
    const headers = { cookie, origin };
    const order = await request(origin, "POST", "/api/orders", { headers, body: { item: "Tea" } });
    expect([order.status, order.json.customerId]).toEqual([201, id]);
    expect((await request(origin, "GET", "/api/orders", { headers: { cookie } })).json).toHaveLength(1);
    const statusWith = async (given: Record<string, string>) =>
      (await request(origin, "GET", "/api/orders", { headers: given })).status;
    expect([await statusWith({}), await statusWith({ cookie: cookie.replace("=", "=x") })]).toEqual([401, 401]);

    const again = await request(origin, "POST", "/auth/sign-in/email", { body: ann, headers: { origin } });
    expect([again.status, await statusWith({ cookie: cookieOf(again.headers) })]).toEqual([200, 200]);
    const wrong = { body: { ...ann, password: "a guess at it" }, headers: { origin } };
    expect((await request(origin, "POST", "/auth/sign-in/email", wrong)).status).toBe(401);

    expect((await request(origin, "POST", "/auth/sign-out", { headers, body: {} })).status).toBe(200);
    expect(await statusWith({ cookie })).toBe(401);
    expect(await statusWith({ cookie: cookieOf(again.headers) })).toBe(200); // another session
  });

  it("shows a session on the command line that works", async () => {
    const { origin } = await startShop();
    const [, block] = /^```sh\n(origin=[\s\S]*?)^```/m.exec(page.text) as unknown as [string, string];
    const { promised, answered } = await runShellSession(block, origin);
    expect(answered).toEqual(promised);
    expect(promised.length).toBeGreaterThan(4);
  });

  it("refuses requests that a page of another origin makes the browser send", async () => {
    const { origin } = await startShop();
    const { cookie } = await signUp(origin);
    const from = async (path: string, headers: Record<string, string>) =>
      (await request(origin, "POST", path, { headers: { cookie, ...headers }, body: { item: "Tea" } })).status;
    const evil = { origin: "https://evil.example" };
    expect([
      await from("/api/orders", evil),
      await from("/api/orders", {}),
      await from("/auth/sign-out", evil),
    ]).toEqual([403, 403, 403]);
    expect((await request(origin, "GET", "/api/orders", { headers: { cookie } })).json).toEqual([]);
  });

  it("reads roles only from the database, on each request", async () => {
    const { origin, driver } = await startShop();
    const { cookie: ofEve, id: eve } = await signUp(origin, { ...ann, email: "eve@shop.example" });
    await request(origin, "POST", "/api/orders", { headers: { cookie: ofEve, origin }, body: { item: "Tea" } });
    const wanted = { ...ann, role: "admin" };
    const { cookie } = await signUp(origin, wanted);
    const orders = async () => (await request(origin, "GET", "/api/orders", { headers: { cookie } })).json.length;
    expect(await orders()).toBe(0);
    const headers = { cookie, origin };
    await request(origin, "PATCH", `/api/users/${eve}`, { headers, body: { role: "admin" } });
    await request(origin, "POST", "/auth/update-user", { headers, body: { role: "admin" } });
    expect(await orders()).toBe(0);
    const { makeAdmin } = await page.load<{ makeAdmin(driver: Driver, email: string): Promise<unknown> }>(
      "make-admin.ts",
    );
    await makeAdmin(driver, ann.email);
    expect(await orders()).toBe(1);
  });

  it("shows no session, account or verification, and only the caller's own address", async () => {
    const { origin } = await startShop();
    const { id: eve } = await signUp(origin, { ...ann, email: "eve@shop.example" });
    const { cookie, id } = await signUp(origin);
    const get = (path: string) => request(origin, "GET", path, { headers: { cookie } });
    for (const path of ["/api/sessions", "/api/accounts", "/api/verifications"])
      expect((await get(path)).status).toBe(404);
    expect((await get(`/api/users/${id}`)).json.email).toBe(ann.email);
    expect((await get(`/api/users/${eve}`)).status).toBe(404);
  });

  it("names every option", () => {
    const declared = membersOf("src/plugins/accounts/index.ts", "AccountsOptions");
    expect(page.text.match(/(?<=^\| `)\w+(?=` \|)/gm)).toEqual(declared);
  });

  it("has users with fields of the app's own, and records of organizations", async () => {
    type Make = (baseUrl: string, secret: string, driver?: Driver) => Keelson;
    const { createApi } = await page.load<{ createApi: Make }>("members.ts");
    const { createPlans } = await page.load<{ createPlans: Make }>("organizations.ts");
    const { file, remove } = await freshSqliteFile();
    const plans = createPlans("https://shop.example", SECRET, embedded({ file }));
    const members = createApi("https://shop.example", SECRET);
    onTestFinished(async () => {
      await Promise.all([plans.close(), members.close()]);
      await remove();
    });
    await Promise.all([plans.ready, members.ready]);
    const of = (api: Keelson): string[] => api.routes.map(({ path }) => path);
    expect(of(plans)).toEqual(
      expect.arrayContaining(["/api/plans", "/auth/organization/set-active", "/api/organizations"]),
    );
    expect(of(plans)).not.toContain("/api/members");
    expect(of(members)).toEqual(expect.arrayContaining(["/api/users/:id", "/auth/sign-up/email"]));
    expect((await page.load<{ logins: { id: string } }>("mail.ts")).logins.id).toBe("accounts");
    const { logins } = await page.load<{ logins(env: object): { id: string } }>("providers.ts");
    expect(logins({ AUTH_SECRET: SECRET }).id).toBe("accounts");
  });

  it("responds with 503 to a cookie while sessions cannot be read", async () => {
    const { origin, file } = await startShop();
    const { cookie } = await signUp(origin);
    const client = createClient({ url: `file:${file}` });
    await client.execute("ALTER TABLE session RENAME TO gone");
    client.close();
    const answer = await request(origin, "GET", "/api/orders", { headers: { cookie } });
    expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"]);
    expect((await request(origin, "GET", "/api/orders")).status).toBe(401);
  });

  it("works the same on Hono", async () => {
    const { file, remove } = await freshSqliteFile();
    const { createShop } = await page.load<{ createShop(origin: string, secret: string, driver: Driver): Shop }>(
      "shop.ts",
    );
    const { createServer: createHono } = await page.load<{
      createServer(shop: Shop): { fetch(request: Request): Response | Promise<Response> };
    }>("hono-server.ts");
    const { origin, answerWith } = await listen();
    const shop = createShop(origin, SECRET, embedded({ file }));
    onTestFinished(async () => {
      await shop.api.close();
      await remove();
    });
    await shop.api.ready; // as `start` waits for it
    answerWith(getRequestListener(createHono(shop).fetch) as NonNullable<Listener>);
    const { cookie } = await signUp(origin);
    const headers = { cookie, origin };
    expect((await request(origin, "POST", "/api/orders", { headers, body: { item: "Tea" } })).status).toBe(201);
    expect((await request(origin, "GET", "/api/orders")).status).toBe(401);
  });

  it("marks the cookie Secure when browsers use https", async () => {
    const { file, remove } = await freshSqliteFile();
    const { createShop } = await page.load<{ createShop(origin: string, secret: string, driver: Driver): Shop }>(
      "shop.ts",
    );
    const shop = createShop("https://shop.example", SECRET, embedded({ file }));
    onTestFinished(async () => {
      await shop.api.close();
      await remove();
    });
    await shop.api.ready;
    const answer = await shop.api.fetch(
      new Request("https://shop.example/auth/sign-up/email", {
        method: "POST",
        headers: { "content-type": "application/json", origin: "https://shop.example" },
        body: JSON.stringify(ann),
      }),
    );
    expect(answer.headers.getSetCookie()[0]).toMatch(/^__Secure-.*; Secure/i);
  });

  it("ignores better-auth's own tables, next to Keelson's in one PostgreSQL database", async () => {
    const { url, drop } = await freshPostgres();
    const { origin, answerWith } = await listen();
    const { createShop } = await page.load<{
      createShop(origin: string, secret: string, url: string): Promise<Shop & { pool: { end(): Promise<void> } }>;
    }>("own-tables.ts");
    const first = await createShop(origin, SECRET, url);
    await first.api.ready;
    await first.api.close();
    await first.pool.end();
    const shop = await createShop(origin, SECRET, url); // starts again, with the tables of both
    onTestFinished(async () => {
      await shop.api.close();
      await shop.pool.end();
      await drop();
    });
    await shop.api.ready;
    const { createServer: createExpress } = await page.load<{ createServer(shop: Shop): NonNullable<Listener> }>(
      "own-tables-server.ts",
    );
    answerWith(createExpress(shop));
    const { cookie, id } = await signUp(origin);
    const order = await request(origin, "POST", "/api/orders", { headers: { cookie, origin }, body: { item: "Tea" } });
    expect([order.status, order.json.customerId]).toEqual([201, id]);
  });
});
