import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { genericOAuth } from "better-auth/plugins/generic-oauth";
import { belongsTo, embedded, entity, type Keelson, keelson, noopLogger, string } from "keelson";
import { accounts, user } from "keelson/better-auth";
import { describe, expect, it, onTestFinished } from "vitest";
import { freshSqliteFile } from "../../support/databases.ts";
import { request, startApp } from "../../support/http.ts";

const BASE = "http://shop.example";
const origin = { origin: BASE };
const CLIENT = { clientId: "shop", clientSecret: "a secret between the two" };
const PROFILES = {
  ann: { id: 7, username: "ann", name: "Ann", email: "ann@shop.example", email_verified: true, state: "active" },
  eve: { id: 8, username: "eve", name: "Eve", email: "ann@shop.example", email_verified: false, state: "active" },
};

const order = entity("order", { item: string, customer: belongsTo(() => user) })
  .ownedBy("customer")
  .rules({ read: ["owner"], create: ["authenticated"] });

/** A provider that speaks OAuth 2 like GitLab; the authorization code is the name of the person who granted it. */
async function openProvider() {
  const asked: { readonly path: string; readonly form: URLSearchParams }[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const path = incoming.url ?? "";
    asked.push({ path, form });
    const send = (status: number, body: object) =>
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (path === "/oauth/token") {
      const isKnown = form.get("client_secret") === CLIENT.clientSecret && form.get("code_verifier") !== null;
      if (!isKnown) return send(401, { error: "invalid_client" });
      return send(200, { access_token: `token of ${form.get("code")}`, token_type: "Bearer", expires_in: 60 });
    }
    const name = incoming.headers.authorization?.split(" ").at(-1) as keyof typeof PROFILES;
    return path === "/api/v4/user" && name in PROFILES ? send(200, PROFILES[name]) : send(404, {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function openShop(betterAuth: Parameters<typeof accounts>[0]["betterAuth"]) {
  const { file, remove } = await freshSqliteFile();
  const api = keelson({
    entities: [order],
    driver: embedded({ file }),
    logger: noopLogger,
    plugins: [accounts({ baseUrl: BASE, secret: "a secret of this test, long enough to sign with", betterAuth })],
  });
  const { url, close } = await startApp(api as unknown as Keelson);
  onTestFinished(async () => {
    await close();
    await remove();
  });
  return { url, system: api.asSystem() as unknown as Record<string, { count(): Promise<number> }> };
}

const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");

/** The path of a browser: to the provider, and back with the code. */
async function signIn(url: string, path: string, body: object, code: string, state?: string) {
  const begun = await request(url, "POST", path, { headers: origin, body });
  expect(begun.status).toBe(200);
  const sent = new URL(begun.json.url);
  const callback = new URL(sent.searchParams.get("redirect_uri") ?? "");
  expect(callback.origin).toBe(BASE);
  callback.search = String(new URLSearchParams({ code, state: state ?? sent.searchParams.get("state") ?? "" }));
  const headers = { cookie: cookieOf(begun.headers) };
  const back = await fetch(url + callback.pathname + callback.search, { headers, redirect: "manual" });
  return { sent, back, location: back.headers.get("location") ?? "", cookie: cookieOf(back.headers) };
}

describe("a social provider of better-auth", () => {
  const body = { provider: "gitlab", callbackURL: "/welcome" };
  const social = (issuer: string) => ({ socialProviders: { gitlab: { ...CLIENT, issuer } } });

  it("signs users up and in, and they are the callers of the API", async () => {
    const { url: issuer, asked } = await openProvider();
    const { url, system } = await openShop(social(issuer));
    const { sent, back, location, cookie } = await signIn(url, "/auth/sign-in/social", body, "ann");
    expect(sent.origin + sent.pathname).toBe(`${issuer}/oauth/authorize`);
    expect(sent.searchParams.get("code_challenge_method")).toBe("S256");
    expect([back.status, location]).toEqual([302, "/welcome"]);
    expect(asked.map(({ path }) => path)).toEqual(["/oauth/token", "/api/v4/user"]);
    const made = await request(url, "POST", "/api/orders", { headers: { cookie, ...origin }, body: { item: "Tea" } });
    expect(made.status).toBe(201);
    const again = await signIn(url, "/auth/sign-in/social", body, "ann");
    const { json } = await request(url, "GET", "/api/orders", { headers: { cookie: again.cookie } });
    expect(json).toMatchObject([{ item: "Tea", customerId: made.json.customerId }]);
    expect([await system.user?.count(), await system.account?.count()]).toEqual([1, 1]);
  });

  it("creates no session for another state, or for an address of another account", async () => {
    const { url: issuer } = await openProvider();
    const { url, system } = await openShop(social(issuer));
    const forged = await signIn(url, "/auth/sign-in/social", body, "ann", "a state of another");
    expect([forged.location.includes("error="), forged.cookie.includes("session_token")]).toEqual([true, false]);
    const ann = { name: "Ann", email: "ann@shop.example", password: "correct horse" };
    await request(url, "POST", "/auth/sign-up/email", { headers: origin, body: ann });
    const eve = await signIn(url, "/auth/sign-in/social", body, "eve");
    expect([eve.location.includes("error="), eve.cookie.includes("session_token")]).toEqual([true, false]);
    expect(await system.user?.count()).toBe(1);
  });

  it("may be any OAuth 2 provider, with the plugin genericOAuth", async () => {
    const { url: issuer } = await openProvider();
    const own = {
      ...{ ...CLIENT, providerId: "house", pkce: true, scopes: ["profile"] },
      authorizationUrl: `${issuer}/oauth/authorize`,
      tokenUrl: `${issuer}/oauth/token`,
      userInfoUrl: `${issuer}/api/v4/user`,
    };
    const { url } = await openShop({ plugins: [genericOAuth({ config: [own] })] });
    const asked = { provider: "house", callbackURL: "/welcome" };
    const { location, cookie } = await signIn(url, "/auth/sign-in/social", asked, "ann");
    expect(location).toBe("/welcome");
    expect((await request(url, "GET", "/api/orders", { headers: { cookie } })).status).toBe(200);
  });
});
