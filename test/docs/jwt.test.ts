import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Keelson } from "keelson";
import ts from "typescript";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { listen } from "../adapters/listen.ts";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";

const guide = openPage("guides/jwt");
afterAll(() => guide.remove());

async function serve(api: Keelson): Promise<string> {
  const { url, close } = await startApp(api);
  onTestFinished(close);
  return url;
}

describe("docs/guides/jwt.md", () => {
  it("has a login whose token opens the caller's own orders", async () => {
    vi.stubEnv("JWT_SECRET", "a secret of this test, long enough");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { api } = await guide.load<{ api: Keelson }>("createTokenSigner");
    const url = await serve(api);
    const password = "a demo has no secrets";
    const wrong = await request(url, "POST", "/login", { body: { email: "ann@shop.example", password: "guess" } });
    expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const { json } = await request(url, "POST", "/login", { body: { email: "ann@shop.example", password } });
    const { token } = json;
    const order = await request(url, "POST", "/api/orders", { token, body: { item: "Tea" } });
    expect([order.status, order.json.customerId]).toEqual([201, "ann"]);
    expect((await request(url, "GET", "/api/orders", { token })).json).toHaveLength(1);
    expect((await request(url, "GET", "/api/orders")).status).toBe(401);
    expect((await request(url, "GET", "/api/orders", { token: `${token}x` })).status).toBe(401);
  });

  it("recognises users of an issuer, and refuses those unknown to the app", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k1" }] });
    const port = await listen((_request, response) => void response.end(keys));
    const { createApi } = await guide.load<{ createApi(jwks: string): Keelson }>("jwks,");
    const url = await serve(createApi(`http://127.0.0.1:${port}/.well-known/jwks.json`));
    const create = async (subject: string) => {
      const token = await new SignJWT()
        .setProtectedHeader({ alg: "RS256", kid: "k1" })
        .setIssuer("https://tenant.example/")
        .setAudience("https://api.example")
        .setSubject(subject)
        .setExpirationTime("1 minute")
        .sign(privateKey);
      return request(url, "POST", "/api/articles", { token, body: { title: "News" } });
    };
    expect([(await create("tenant|7")).status, (await create("tenant|8")).status]).toEqual([201, 401]);
  });

  it("lists every option with its default", () => {
    const source = readFileSync(join(repositoryRoot, "src/plugins/jwt-auth/jwt-auth-options.ts"), "utf8");
    const file = ts.createSourceFile("options.ts", source, ts.ScriptTarget.Latest, true);
    const options = file.statements.find(
      (node) => ts.isInterfaceDeclaration(node) && node.name.text === "JwtAuthOptions",
    );
    const names = (options as ts.InterfaceDeclaration).members.map((member) => (member.name as ts.Identifier).text);
    const table = guide.text.slice(guide.text.indexOf("## Options"));
    const cells = table.split("\n").filter((row) => row.startsWith("| `"));
    const listed = cells.flatMap((row) => (row.split("|")[1] as string).match(/\w+(?=`)/g) ?? []);
    expect(listed.sort()).toEqual(names.sort());
  });
});
