import { admin, organization as organizations, phoneNumber, twoFactor } from "better-auth/plugins";
import {
  belongsTo,
  type Driver,
  embedded,
  entity,
  type Keelson,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "keelson";
import { accounts, inOrganization, organization, user, userFields } from "keelson/better-auth";
import { createTransport } from "nodemailer";
import { describe, expect, it, onTestFinished } from "vitest";
import { freshSqliteFile } from "../../support/databases.ts";
import { request, startApp } from "../../support/http.ts";

const BASE = "http://shop.example";
const secret = "a secret of this test, long enough to sign with";
const origin = { origin: BASE };
const ann = { name: "Ann", email: "ann@shop.example", password: "correct horse" };
type Options = Partial<Parameters<typeof accounts>[0]>;

const order = entity("order", { item: string, customer: belongsTo(() => user) })
  .ownedBy("customer")
  .rules({ read: ["ownerOrAdmin"], create: ["authenticated"], update: ["owner"] });

/** Clients of entities that the app's types do not include. */
type Records = Record<
  "user" | "organization" | "member",
  {
    create(data: object): Promise<unknown>;
    update(id: string, data: object): Promise<unknown>;
    delete(id: string): Promise<unknown>;
    list(query: object): Promise<{ data: { id: string }[] }>;
  }
>;

async function open(
  options: Options = {},
  extra: readonly ReturnType<typeof entity>[] = [],
  driver?: Driver,
  app = {},
) {
  const { file, remove } = await freshSqliteFile();
  const api = keelson({
    entities: [order, ...extra] as never,
    driver: driver ?? embedded({ file }),
    logger: noopLogger,
    plugins: [accounts({ baseUrl: BASE, secret, ...options })],
    ...app,
  }) as unknown as Keelson;
  const { url, close } = await startApp(api);
  onTestFinished(async () => {
    await close();
    await remove();
  });
  await api.ready;
  return { api, url, system: api.asSystem() as unknown as Records };
}

const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");

async function signUp(url: string, body: object = ann) {
  const answer = await request(url, "POST", "/auth/sign-up/email", { body, headers: origin });
  expect([answer.status, answer.json]).toMatchObject([200, { user: { email: (body as typeof ann).email } }]);
  return { cookie: cookieOf(answer.headers), id: answer.json.user.id as string };
}

describe("accounts", () => {
  it("sign up, in and out, and are the callers of the API", async () => {
    const { url } = await open();
    const { cookie, id } = await signUp(url);
    const made = await request(url, "POST", "/api/orders", { headers: { cookie, ...origin }, body: { item: "Tea" } });
    expect([made.status, made.json.customerId]).toEqual([201, id]);
    const again = await request(url, "POST", "/auth/sign-in/email", { body: ann, headers: origin });
    expect(again.status).toBe(200);
    const wrong = { ...ann, password: "a guess at it" };
    expect((await request(url, "POST", "/auth/sign-in/email", { body: wrong, headers: origin })).status).toBe(401);
    const list = (headers: Record<string, string>) => request(url, "GET", "/api/orders", { headers });
    expect((await list({ cookie })).json).toHaveLength(1);
    await request(url, "POST", "/auth/sign-out", { headers: { cookie, ...origin }, body: {} });
    expect([(await list({ cookie })).status, (await list({})).status]).toEqual([401, 401]);
  });

  it("keep their tables closed, and each user's data private", async () => {
    const { url } = await open();
    const { id: eve } = await signUp(url, { ...ann, email: "eve@shop.example" });
    const { cookie, id } = await signUp(url);
    const get = (path: string) => request(url, "GET", path, { headers: { cookie } });
    for (const name of ["sessions", "accounts", "verifications"]) expect((await get(`/api/${name}`)).status).toBe(404);
    expect((await get(`/api/users/${id}`)).json).toMatchObject({ name: "Ann", email: ann.email, role: "user" });
    expect((await get("/api/users")).json).toHaveLength(1);
    expect((await get(`/api/users/${eve}`)).status).toBe(404);
    const headers = { cookie, ...origin };
    const changed = await request(url, "PATCH", `/api/users/${id}`, { headers, body: { name: "Anne", role: "admin" } });
    expect(changed.json).toMatchObject({ name: "Anne", role: "user" });
  });

  it("refuse requests with the cookie from a page of another origin", async () => {
    const { url } = await open();
    const { cookie } = await signUp(url);
    const order = (headers: Record<string, string>) =>
      request(url, "POST", "/api/orders", { headers, body: { item: "Tea" } });
    const evil = { cookie, origin: "https://evil.example" };
    expect([(await order({ cookie })).status, (await order(evil)).status]).toEqual([403, 403]);
    // A browser adds the password that a proxy in front of the app requires.
    expect((await order({ ...evil, authorization: "Basic c3RhZ2U6c3RhZ2U=" })).status).toBe(401);
    expect((await request(url, "GET", "/api/orders", { headers: { cookie } })).json).toEqual([]);
  });

  it("take roles only from the database, from the next request on", async () => {
    const { url, system } = await open();
    const { cookie: ofEve } = await signUp(url, { ...ann, email: "eve@shop.example" });
    await request(url, "POST", "/api/orders", { headers: { cookie: ofEve, ...origin }, body: { item: "Tea" } });
    const { cookie, id } = await signUp(url, { ...ann, role: "admin" });
    const count = async () => (await request(url, "GET", "/api/orders", { headers: { cookie } })).json.length;
    expect(await count()).toBe(0);
    await system.user.update(id, { role: "editor,admin" });
    expect(await count()).toBe(1);
  });

  it("may have fields of the app's own", async () => {
    const own = entity("user", { ...userFields, nick: string.default("new") })
      .ownedBy("id")
      .rules({ read: ["authenticated"], update: ["owner"] });
    const { url } = await open({ entities: [own] }, [own as never]);
    const { cookie, id } = await signUp(url);
    const { json } = await request(url, "GET", `/api/users/${id}`, { headers: { cookie } });
    expect(json).toMatchObject({ nick: "new", email: ann.email });
  });

  it("are found by a user's current name", async () => {
    const own = entity("user", { ...userFields, name: string.searchable() })
      .ownedBy("id")
      .rules({ read: ["authenticated"] });
    const { url } = await open({ entities: [own] }, [own as never]);
    const { cookie, id } = await signUp(url);
    const found = async (word: string) =>
      (await request(url, "GET", `/api/users?q=${word}&select=id`, { headers: { cookie } })).json;
    expect(await found("ann")).toEqual([{ id }]);
    const body = { name: "Zoe" };
    await request(url, "POST", "/auth/update-user", { headers: { cookie, ...origin }, body });
    expect([await found("ann"), await found("zoe")]).toEqual([[], [{ id }]]);
  });

  it("are rate-limited in production, with any NODE_ENV", async () => {
    const { url } = await open({}, [], memoryDriver(), { production: true });
    const wrong = { ...ann, password: "a guess at it" };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++)
      statuses.push((await request(url, "POST", "/auth/sign-in/email", { body: wrong, headers: origin })).status);
    expect(statuses).toContain(429);
  });

  it("are routes of the app, at a configurable path", async () => {
    const { url, api } = await open({ path: "/api/login" });
    const answer = await request(url, "POST", "/api/login/sign-up/email", { body: ann, headers: origin });
    expect(answer.status).toBe(200);
    expect((await request(url, "GET", "/api/login/sign-up/email")).status).toBe(405);
    expect(api.routes.map(({ path }) => path)).toContain("/api/login/request-password-reset");
    const { paths } = (await request(url, "GET", "/openapi.json")).json;
    expect(paths["/api/login/sign-out"].post).toMatchObject({
      summary: "Sign out the current user",
      tags: ["accounts"],
    });
  });

  it("report invalid options when the app starts", async () => {
    const plugin = accounts({ baseUrl: "shop", secret: "short", colour: "red" } as never);
    expect(() => keelson({ entities: [order], plugins: [plugin], logger: noopLogger })).toThrow(
      /colour[\s\S]*baseUrl[\s\S]*secret/,
    );
  });
});

describe("mail of accounts", () => {
  it("verifies an address and resets a password through a nodemailer transport", async () => {
    const transport = createTransport({ jsonTransport: true });
    const sent: { to: string; text: string; from: string }[] = [];
    const mail = {
      from: "Shop <shop@shop.example>",
      transport: {
        sendMail: async (message: never) => {
          sent.push(JSON.parse((await transport.sendMail(message)).message));
        },
      },
    };
    const { url } = await open({ mail, verifyEmail: true });
    const signIn = (password: string) =>
      request(url, "POST", "/auth/sign-in/email", { body: { ...ann, password }, headers: origin });
    await request(url, "POST", "/auth/sign-up/email", { body: ann, headers: origin });
    expect((await signIn(ann.password)).status).toBe(403);
    const linkIn = (text = ""): string => /https?:\/\/\S+/.exec(text)?.[0]?.slice(BASE.length) ?? "";
    expect(sent[0]).toMatchObject({ to: [{ address: ann.email }], from: { address: "shop@shop.example" } });
    const followed = await fetch(url + linkIn(sent[0]?.text), { redirect: "manual" });
    expect([followed.status, followed.headers.get("location")]).toEqual([302, "/"]);
    expect((await signIn(ann.password)).status).toBe(200);

    const asked = { body: { email: ann.email, redirectTo: "/new-password" }, headers: origin };
    expect((await request(url, "POST", "/auth/request-password-reset", asked)).status).toBe(200);
    const token = /reset-password\/([^?]+)/.exec(sent.at(-1)?.text ?? "")?.[1];
    const newPassword = "a better horse";
    const reset = { body: { token, newPassword }, headers: origin };
    expect((await request(url, "POST", "/auth/reset-password", reset)).status).toBe(200);
    expect([(await signIn(ann.password)).status, (await signIn(newPassword)).status]).toEqual([401, 200]);
  });

  it("is written to the log in development, without a transport", async () => {
    const { file, remove } = await freshSqliteFile();
    const lines: string[] = [];
    const logger = { ...noopLogger, info: (message: string) => void lines.push(message) };
    const api = keelson({
      entities: [order],
      driver: embedded({ file }),
      logger,
      plugins: [accounts({ baseUrl: BASE, secret })],
    });
    const { url, close } = await startApp(api as unknown as Keelson);
    onTestFinished(async () => {
      await close();
      await remove();
    });
    await signUp(url);
    expect(lines.join("\n")).toMatch(/Mail to ann@shop\.example: Confirm your address\n.*\/auth\/verify-email\?token=/);
  });
});

describe("organizations and roles of better-auth's plugins", () => {
  const plan = entity("plan", { title: string, organization: belongsTo(() => organization) }).rules({
    read: [inOrganization()],
    create: [inOrganization()],
    delete: [inOrganization("owner")],
  });

  it("are available to rules as long as the user is a member", async () => {
    const { url, system } = await open({ betterAuth: { plugins: [organizations()] } }, [plan as never]);
    const { cookie, id } = await signUp(url);
    const headers = { cookie, ...origin };
    const list = () => request(url, "GET", "/api/plans", { headers });
    expect((await list()).status).toBe(403);
    const body = { name: "Shop", slug: "shop" };
    const made = await request(url, "POST", "/auth/organization/create", { headers, body });
    expect([made.status, made.json]).toMatchObject([200, { slug: "shop" }]);
    const organizationId = made.json.id as string;
    await request(url, "POST", "/auth/organization/set-active", { headers, body: { organizationId } });
    const plans = await request(url, "POST", "/api/plans", { headers, body: { title: "Grow", organizationId } });
    expect([plans.status, (await list()).json]).toMatchObject([201, [{ title: "Grow" }]]);

    await signUp(url, { ...ann, email: "eve@shop.example" });
    await system.organization.create({ id: "other", name: "Other", slug: "other" });
    const foreign = { headers, body: { title: "Theirs", organizationId: "other" } };
    expect((await request(url, "POST", "/api/plans", foreign)).status).toBe(400);
    const own = await request(url, "GET", "/api/organizations", { headers });
    expect(own.json).toMatchObject([{ id: organizationId, slug: "shop" }]);
    const planPath = `/api/plans/${plans.json.id}`;
    const { data } = await system.member.list({ where: { userId: id } });
    await system.member.update(data[0]?.id ?? "", { role: "member" });
    expect((await request(url, "DELETE", planPath, { headers })).status).toBe(403);
    await system.member.update(data[0]?.id ?? "", { role: "owner" });
    expect((await request(url, "DELETE", planPath, { headers })).status).toBe(200);
    await system.member.delete(data[0]?.id ?? "");
    expect((await list()).status).toBe(403);
  });

  it("ban users with the admin plugin, whose columns callers do not see", async () => {
    const { url, system } = await open({ betterAuth: { plugins: [admin()] } });
    const { cookie: ofEve, id: eve } = await signUp(url, { ...ann, email: "eve@shop.example" });
    const { cookie, id } = await signUp(url);
    await system.user.update(id, { role: "admin" });
    const body = { userId: eve, banReason: "spam" };
    const banned = await request(url, "POST", "/auth/admin/ban-user", { headers: { cookie, ...origin }, body });
    expect([banned.status, banned.json.user?.banned]).toEqual([200, true]);
    expect((await request(url, "GET", "/api/orders", { headers: { cookie: ofEve } })).status).toBe(401);
    const { json } = await request(url, "GET", `/api/users/${eve}`, { headers: { cookie } });
    expect(json).not.toHaveProperty("banReason");
  });

  it("show their user columns only to the system", async () => {
    const { url, system } = await open({ betterAuth: { plugins: [admin(), phoneNumber(), twoFactor()] } });
    const { cookie, id } = await signUp(url);
    const added = { phoneNumber: "+491", phoneNumberVerified: true, twoFactorEnabled: true, banReason: "none" };
    const body = { name: "Anna", ...added };
    const { status, json } = await request(url, "PATCH", `/api/users/${id}`, { headers: { cookie, ...origin }, body });
    expect([status, Object.keys(json.errors)]).toEqual([400, Object.keys(added)]);
    const changed = async () => (await system.user.list({ where: { OR: toConditions(added) } })).data.length;
    expect(await changed()).toBe(0);
    await system.user.update(id, added);
    expect(await changed()).toBe(1);
  });
});

function toConditions(values: object): readonly object[] {
  return Object.entries(values).map(([name, value]) => ({ [name]: value }));
}
