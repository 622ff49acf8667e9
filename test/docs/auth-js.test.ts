import { createServer, type RequestListener } from "node:http";
import { createClient } from "@libsql/client";
import { type Driver, embedded, type Keelson } from "keelson";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freshSqliteFile } from "../support/databases.ts";
import { request } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";
import { runShellSession } from "../support/shell-session.ts";

interface Shop {
  readonly api: Keelson;
  readonly config: object;
}

const SECRET = "a secret of this test, long enough to encrypt with";
const ann = { name: "Ann", email: "ann@shop.example", password: "correct horse" };

let page: Page;
beforeAll(() => {
  page = openPage("guides/auth-js");
});
afterAll(() => page.remove());

/** A server whose URL is known before its request listener is created. */
async function listen(): Promise<{ origin: string; answerWith(given: RequestListener): void }> {
  let listener: RequestListener | undefined;
  const server = createServer((incoming, outgoing) => listener?.(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { origin: `http://127.0.0.1:${port}`, answerWith: (given) => void (listener = given) };
}

/** An identity provider where every user is already signed in: it redirects back with a code at once. */
async function startCompany(): Promise<string> {
  const { origin, answerWith } = await listen();
  answerWith((incoming, outgoing) => {
    const url = new URL(incoming.url as string, origin);
    if (url.pathname === "/authorize") {
      const back = new URL(url.searchParams.get("redirect_uri") as string);
      back.searchParams.set("code", "a code");
      const state = url.searchParams.get("state");
      if (state !== null) back.searchParams.set("state", state);
      outgoing.writeHead(302, { location: back.href }).end();
      return;
    }
    const answer =
      url.pathname === "/token" ? { access_token: "t", token_type: "bearer" } : { id: 7, name: "Eve", role: "admin" };
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return origin;
}

async function startShop() {
  const { origin, answerWith } = await listen();
  const { file, remove } = await freshSqliteFile();
  const driver = embedded({ file });
  const { createShop } = await page.load<{ createShop(settings: object): Shop }>("shop.ts");
  const company = { url: await startCompany(), clientId: "shop", clientSecret: "a secret between the two" };
  const shop = createShop({ origin, secret: SECRET, driver, company });
  onTestFinished(async () => {
    await shop.api.close();
    await remove();
  });
  await shop.api.ready;
  const server = await page.load<{ createServer(shop: Shop): RequestListener }>("express-server.ts");
  answerWith(server.createServer(shop));
  return { ...shop, origin, driver: driver as Driver, file };
}

/** A browser that keeps cookies and does not follow redirects by itself. */
function createBrowser(origin: string) {
  const jar = new Map<string, string>();
  async function go(url: string, form?: Record<string, string>) {
    const headers: Record<string, string> = { cookie: cookies() };
    const body = form && new URLSearchParams(form);
    const init = { method: form ? "POST" : "GET", headers, redirect: "manual" as const, ...(body && { body }) };
    const response = await fetch(new URL(url, origin), init);
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as unknown as [string, string, string];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    const { status } = response;
    return { status, location: response.headers.get("location") ?? "", set: response.headers.getSetCookie(), response };
  }
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const csrf = async () => ((await (await go("/auth/csrf")).response.json()) as { csrfToken: string }).csrfToken;
  return { go, cookies, csrf, has: (name: string) => jar.has(name) };
}

const SESSION = "authjs.session-token";

async function signIn(origin: string, { email, password }: typeof ann) {
  const browser = createBrowser(origin);
  const csrfToken = await browser.csrf();
  const answer = await browser.go("/auth/callback/credentials", { csrfToken, email, password });
  return { ...browser, csrfToken, answer };
}

describe("docs/guides/auth-js.md", () => {
  it("signs in with a password, accepts the cookie, and removes it at sign-out", async () => {
    const { origin } = await startShop();
    const { json: person } = await request(origin, "POST", "/api/users", { body: { ...ann, role: "admin" } });
    expect(person).not.toHaveProperty("password");
    const { answer, cookies, go, csrfToken, has } = await signIn(origin, ann);
    expect([answer.status, has(SESSION)]).toEqual([302, true]);
    const line = answer.set.find((text) => text.startsWith(SESSION));
    expect(line).toMatch(/HttpOnly/i);
    expect(line).toMatch(/SameSite=Lax/i);

    const cookie = cookies();
    const order = await request(origin, "POST", "/api/orders", { headers: { cookie, origin }, body: { item: "Tea" } });
    expect([order.status, order.json.customerId]).toEqual([201, person.id]);
    const statusWith = async (headers: Record<string, string>) =>
      (await request(origin, "GET", "/api/orders", { headers })).status;
    const changed = cookie.replace(`${SESSION}=`, `${SESSION}=x`);
    expect([await statusWith({ cookie }), await statusWith({}), await statusWith({ cookie: changed })]).toEqual([
      200, 401, 401,
    ]);

    expect((await go("/auth/signout", { csrfToken })).status).toBe(302);
    expect([has(SESSION), await statusWith({ cookie: cookies() })]).toEqual([false, 401]);
    expect(await statusWith({ cookie })).toBe(200); // a copied cookie stays valid, as the page says
  });

  it("shows a session on the command line that works", async () => {
    const { origin } = await startShop();
    const [, block] = /^```sh\n(origin=[\s\S]*?)^```/m.exec(page.text) as unknown as [string, string];
    const { promised, answered } = await runShellSession(block, origin);
    expect(answered).toEqual(promised);
    expect(promised.length).toBeGreaterThan(4);
  });

  it("sets no cookie for wrong passwords, unknown users and forms from other sites", async () => {
    const { origin } = await startShop();
    await request(origin, "POST", "/api/users", { body: ann });
    const wrong = await signIn(origin, { ...ann, password: "a guess at it" });
    expect([wrong.answer.status, wrong.has(SESSION)]).toEqual([302, false]);
    expect(wrong.answer.location).toContain("error=CredentialsSignin");
    const unknown = await signIn(origin, { ...ann, email: "nobody@shop.example" });
    expect([unknown.answer.location, unknown.has(SESSION)]).toEqual([wrong.answer.location, false]);
    const forged = createBrowser(origin);
    const { location } = await forged.go("/auth/callback/credentials", { email: ann.email, password: ann.password });
    expect([location.includes("error=MissingCSRF"), forged.has(SESSION)]).toEqual([true, false]);
  });

  it("refuses requests that a page of another origin makes the browser send", async () => {
    const { origin } = await startShop();
    await request(origin, "POST", "/api/users", { body: ann });
    const cookie = (await signIn(origin, ann)).cookies();
    const send = async (headers: Record<string, string>) =>
      (await request(origin, "POST", "/api/orders", { headers: { cookie, ...headers }, body: { item: "Tea" } })).status;
    expect([await send({ origin: "https://evil.example" }), await send({}), await send({ origin })]).toEqual([
      403, 403, 201,
    ]);
  });

  it("accepts a user of a provider, but no role from it", async () => {
    const { origin, api } = await startShop();
    const come = async () => {
      const browser = createBrowser(origin);
      const away = await browser.go("/auth/signin/company", { csrfToken: await browser.csrf() });
      const back = await browser.go(away.location);
      const { status } = await browser.go(back.location);
      expect([status, browser.has(SESSION)]).toEqual([302, true]);
      const headers = { cookie: browser.cookies(), origin };
      return request(origin, "POST", "/api/orders", { headers, body: { item: "Tea" } });
    };
    const [first, second] = [await come(), await come()];
    expect([first.status, second.json.customerId]).toEqual([201, first.json.customerId]);
    const { data } = await (
      api.asSystem() as unknown as { user: { list(): Promise<{ data: unknown[] }> } }
    ).user.list();
    expect(data).toMatchObject([{ name: "Eve", role: "customer" }]);
  });

  it("reads roles from the database on each request, and refuses deleted users", async () => {
    const { origin, driver } = await startShop();
    const { json: person } = await request(origin, "POST", "/api/users", { body: ann });
    const other = await signIn(origin, ann);
    await request(origin, "POST", "/api/users", { body: { ...ann, email: "eve@shop.example" } });
    const eve = await signIn(origin, { ...ann, email: "eve@shop.example" });
    await request(origin, "POST", "/api/orders", { headers: { cookie: eve.cookies(), origin }, body: { item: "Tea" } });
    const get = () => request(origin, "GET", "/api/orders", { headers: { cookie: other.cookies() } });
    expect((await get()).json).toEqual([]);
    await driver.update("user", { id: person.id }, { role: "admin" });
    expect((await get()).json).toHaveLength(1);
    await driver.delete("user", { id: person.id });
    expect((await get()).status).toBe(401);
  });

  it("responds with 503 to a cookie while users cannot be read", async () => {
    const { origin, file } = await startShop();
    await request(origin, "POST", "/api/users", { body: ann });
    const cookie = (await signIn(origin, ann)).cookies();
    const client = createClient({ url: `file:${file}` });
    await client.execute('ALTER TABLE "user" RENAME TO gone');
    client.close();
    const answer = await request(origin, "GET", "/api/orders", { headers: { cookie } });
    expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"]);
    expect((await request(origin, "GET", "/api/orders")).status).toBe(401);
  });

  it("uses the result of Next's auth(), and reports its failure", async () => {
    const { origin, api } = await startShop();
    const { json: person } = await request(origin, "POST", "/api/users", { body: ann });
    const { createHandlers } = await page.load<{
      createHandlers(
        api: Keelson,
        auth: () => Promise<unknown>,
      ): { GET(request: Request, route: object): Promise<Response> };
    }>("next-handler.ts");
    const statusOf = async (session: unknown) => {
      const { GET } = createHandlers(api, async () => session);
      const params = Promise.resolve({ path: ["orders"] });
      return (await GET(new Request("http://shop.example/api/orders"), { params })).status;
    };
    const failed = { message: "There was a problem with the server configuration." };
    expect([await statusOf({ user: { id: person.id } }), await statusOf(null), await statusOf(failed)]).toEqual([
      200, 401, 503,
    ]);
  });

  it("recognises tokens from before a sign-out on all devices", async () => {
    const { isOver } = await page.load<{ isOver(token: object, at: Date | null): boolean }>("isOver");
    const at = new Date(1_700_000_000_000);
    expect([isOver({ iat: 1_699_999_999 }, at), isOver({}, at), isOver({ iat: 1_700_000_001 }, at)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isOver({ iat: 1 }, null)).toBe(false);
  });
});
