import { describe, expect, it, onTestFinished } from "vitest";
import { AuthenticationError, expressAdapter, keelson, memoryDriver, noopLogger } from "../../../src/index.ts";
import {
  createTokenSigner,
  type JwtAuthOptions,
  jwtAuth,
  type TokenClaims,
} from "../../../src/plugins/jwt-auth/index.ts";
import { listen } from "../../adapters/listen.ts";
import { request } from "../../support/http.ts";
import { AUDIENCE, ISSUER } from "./key-server.ts";
import { serveWho, who } from "./who-app.ts";

const options: JwtAuthOptions = { secret: "s".repeat(32), issuer: ISSUER, audience: AUDIENCE };
const sign = createTokenSigner({ ...options, secret: "s".repeat(32) });

describe("a caller", () => {
  it("without Authorization is anonymous", async () => {
    const app = await serveWho(options);
    expect(await app.ask()).toMatchObject({ status: 200, json: { kind: "anonymous" } });
    expect(await app.ask({ "x-authorization": "Bearer x" })).toMatchObject({ json: { kind: "anonymous" } });
  });

  it("without Authorization gets a challenge where a user is needed", async () => {
    const { status, headers } = await (await serveWho(options)).ask(undefined, "/mine");
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it("gets a challenge only with a 401", async () => {
    const app = await serveWho(options);
    expect((await app.ask()).headers.get("www-authenticate")).toBeNull();
    expect((await app.ask(undefined, "/nowhere")).headers.get("www-authenticate")).toBeNull();
  });

  it("is the sub of the token, with its role and roles and nothing else", async () => {
    const app = await serveWho(options);
    const told = async (claims: Readonly<Record<string, unknown>>) =>
      (await app.ask(await sign({ sub: "ann", ...claims }))).json;
    expect((await told({ name: "Ann", isAdmin: true, id: "root" })).user).toEqual({ id: "ann" });
    expect((await told({ role: "editor", roles: ["a", "b"] })).user).toEqual({
      id: "ann",
      role: "editor",
      roles: ["a", "b"],
    });
    expect((await told({ role: ["admin"], roles: "admin" })).user).toEqual({ id: "ann" });
    expect((await told({ role: { admin: true }, roles: ["admin", 1] })).user).toEqual({ id: "ann" });
    expect(await told({ roles: ["admin"] })).toMatchObject({ isAdmin: true });
    expect(await told({ isAdmin: true })).toMatchObject({ isAdmin: false });
  });

  it("is the result of `user` for the claims", async () => {
    const seen: TokenClaims[] = [];
    const user = async (claims: TokenClaims) => {
      seen.push(claims);
      return { id: `issuer|${claims.sub}`, team: claims.team };
    };
    const app = await serveWho({ ...options, user });
    expect((await app.ask(await sign({ sub: "ann", team: "red" }))).json.user).toEqual({
      id: "issuer|ann",
      team: "red",
    });
    expect(seen).toEqual([expect.objectContaining({ sub: "ann", team: "red", iss: ISSUER, aud: AUDIENCE })]);
  });

  it.each([null, undefined])("is refused like with any invalid token when `user` returns %s", async (nobody) => {
    const app = await serveWho({ ...options, user: () => nobody });
    const gone = await app.ask(await sign({ sub: "ann" }));
    const bad = await app.ask("bad");
    expect([gone.status, gone.text]).toEqual([401, bad.text]);
    expect(gone.headers.get("www-authenticate")).toBe(bad.headers.get("www-authenticate"));
  });

  it("is not looked up with `user` when the token is invalid", async () => {
    let calls = 0;
    const app = await serveWho({ ...options, user: ({ sub }) => ({ id: `${sub}${++calls}` }) });
    for (const token of [await sign({ sub: "\u0000" }), "x.y.z"]) expect((await app.ask(token)).status).toBe(401);
    expect(calls).toBe(0);
  });

  it("gets 503 when `user` fails, or the app's own error", async () => {
    const broken = await serveWho({ ...options, user: () => Promise.reject(new TypeError("no database")) });
    expect((await broken.ask(await sign({ sub: "ann" }))).status).toBe(503);
    const blocked = await serveWho({
      ...options,
      user() {
        throw new AuthenticationError("Your account is blocked");
      },
    });
    const { json, headers } = await blocked.ask(await sign({ sub: "ann" }));
    expect([json.message, headers.get("www-authenticate")]).toEqual(["Your account is blocked", "Bearer"]);
  });

  it("is the result of an adapter's own getUser, if there is one", async () => {
    const api = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins: [jwtAuth(options), who] });
    onTestFinished(() => api.close());
    const { default: express } = await import("express");
    const app = express().use(expressAdapter(api, { getUser: () => ({ id: "session" }) }));
    const url = `http://127.0.0.1:${await listen(app)}`;
    expect((await request(url, "GET", "/who", { token: "bad" })).json.user).toEqual({ id: "session" });
  });
});
