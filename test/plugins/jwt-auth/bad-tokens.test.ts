import { createHmac, createPublicKey, type JsonWebKey } from "node:crypto";
import fc from "fast-check";
import { base64url, type JWTPayload, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { propertyOptions } from "../../support/properties.ts";
import { AUDIENCE, goodClaims, ISSUER, type SigningKey, signingKey } from "./key-server.ts";
import { serveWho, type WhoApp } from "./who-app.ts";

// The clock is mocked, so that times in tokens are exact on a slow machine too.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const secret = "a secret of this test, with more than 64 bytes, so that HS512 could use it as well";
const expected = { issuer: ISSUER, audience: AUDIENCE };
const part = (value: unknown): string => base64url.encode(typeof value === "string" ? value : JSON.stringify(value));
const now = (): number => Math.floor(Date.now() / 1_000);

/** A token signed with any secret; nothing of it is validated. */
function forge(header: unknown, claims: unknown, key: string | Buffer = secret, hash = "sha256"): string {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${createHmac(hash, key).update(signed).digest("base64url")}`;
}
const HS256 = { alg: "HS256" };
const saying = (claims: Readonly<Record<string, unknown>>): string => forge(HS256, { ...goodClaims(), ...claims });
const good = (): string => saying({});

/** The response to every invalid token, without the request's id. */
const REFUSAL = {
  status: 401,
  text: '{"code":"UNAUTHENTICATED","message":"The access token is not valid","status":401,"requestId":"…"}',
  challenge: 'Bearer error="invalid_token"',
};
async function answerTo(app: WhoApp, credentials: string | Readonly<Record<string, string>>): Promise<unknown> {
  const { status, text, headers } = await app.ask(credentials);
  return { status, text, challenge: headers.get("www-authenticate") };
}

const claims: readonly (readonly [what: string, token: () => string])[] = [
  ["has expired", () => saying({ exp: now() - 60 })],
  ["never expires", () => saying({ exp: undefined })],
  ["expires at a text", () => saying({ exp: String(now() + 60) })],
  ["is not valid yet", () => saying({ nbf: now() + 60 })],
  ["is of another issuer", () => saying({ iss: `${ISSUER}/` })],
  ["is of no issuer", () => saying({ iss: undefined })],
  ["is of a list of issuers", () => saying({ iss: [ISSUER] })],
  ["is for another audience", () => saying({ aud: ["books", "filmsx"] })],
  ["is for nobody", () => saying({ aud: undefined })],
  ["is of nobody", () => saying({ sub: undefined })],
  ["has an empty sub", () => saying({ sub: "" })],
  ["has a number for sub", () => saying({ sub: 7 })],
  ["has a condition for sub", () => saying({ sub: { not: "x" } })],
  ["has a sub that is too long for an id", () => saying({ sub: "a".repeat(129) })],
  ["has a NUL in sub", () => saying({ sub: "a\u0000" })],
  ["has half a character for sub", () => saying({ sub: "\ud800" })],
  ["says a list", () => forge(HS256, [goodClaims()])],
  ["says what is no JSON", () => forge(HS256, "{")],
];
const signatures: readonly (readonly [what: string, token: () => string])[] = [
  ["is signed with another secret", () => forge(HS256, goodClaims(), `${secret}.`)],
  ["was changed afterwards", () => good().replace(/\.[\w-]+\./, `.${part({ ...goodClaims(), sub: "root" })}.`)],
  ["has lost an end", () => good().slice(0, -2)],
  ["says alg none", () => `${part({ alg: "none" })}.${part(goodClaims())}.`],
  ["says alg none and is signed", () => forge({ alg: "none" }, goodClaims())],
  ["says alg nOnE and is signed", () => forge({ alg: "nOnE" }, goodClaims())],
  ["says no alg", () => forge({}, goodClaims())],
  ["has an alg that is not on the list", () => forge({ alg: "HS512" }, goodClaims(), secret, "sha512")],
  ["has an alg that is inherited", () => forge({ alg: "constructor" }, goodClaims())],
  ["has an extension it says must be understood", () => forge({ ...HS256, crit: ["x"], x: 1 }, goodClaims())],
  ["has a payload that is not encoded", () => forge({ ...HS256, crit: ["b64"], b64: false }, goodClaims())],
  ["brings its own key", () => forge({ ...HS256, jwk: { kty: "oct", k: part("mine") } }, goodClaims(), "mine")],
  ["has two parts", () => good().split(".").slice(0, 2).join(".")],
  ["has five parts, as encrypted ones do", () => `${good()}.a.b`],
  ["is not base64url", () => good().replace(".", "+.")],
  ["is padded", () => `${good()}==`],
  ["has a header that is no JSON", () => forge("{", goodClaims())],
  ["is longer than 8192 bytes", () => saying({ padding: "x".repeat(6_200) })],
];
const headers: readonly (readonly [what: string, authorization: () => string])[] = [
  ["another scheme", () => `Basic ${good()}`],
  ["a scheme that begins with Bearer", () => `BearerX ${good()}`],
  ["a token without scheme", good],
  ["a scheme without token", () => "Bearer"],
  ["nothing at all", () => ""],
  ["two tokens", () => `Bearer ${good()} ${good()}`],
  ["two credentials in one line", () => `Bearer ${good()}, Bearer ${good()}`],
  ["a token in quotes", () => `Bearer "${good()}"`],
  ["a word", () => "Bearer undefined"],
];

describe("a token signed with a secret", () => {
  const start = (): Promise<WhoApp> => serveWho({ secret, ...expected });

  it("is accepted when it is valid", async () => {
    const app = await start();
    expect(await app.ask(good())).toMatchObject({ status: 200, json: { kind: "user", user: { id: "ann" } } });
    expect((await app.ask(saying({ aud: ["books", AUDIENCE] }))).status).toBe(200);
    expect((await app.ask(saying({ padding: "x".repeat(5_800) }))).status).toBe(200);
  });

  it.each([...claims, ...signatures])("is refused like any other invalid one when it %s", async (_what, token) => {
    expect(await answerTo(await start(), token())).toEqual(REFUSAL);
  });

  it.each(headers)("is refused like any other invalid one when Authorization has %s", async (_what, authorization) => {
    expect(await answerTo(await start(), { authorization: authorization() })).toEqual(REFUSAL);
  });

  it.each(["bearer", "BEARER", "Bearer "])("is accepted with the scheme written as %j", async (scheme) => {
    const app = await start();
    expect((await app.ask({ authorization: `${scheme} ${good()}` })).status).toBe(200);
  });

  it("is refused when there are two Authorization headers", async () => {
    const { port } = await start();
    const lines = [`Authorization: Bearer ${good()}`, `Authorization: Bearer ${good()}`];
    const [reply] = await rawRequest(port, requestBytes("GET", "/who", lines));
    const { requestId, ...body } = JSON.parse(reply?.body ?? "");
    expect(reply?.body.replace(requestId, "…")).toBe(REFUSAL.text);
    expect(body.status).toBe(401);
  });

  it("is refused for any change of its bytes", async () => {
    const app = await start();
    const [head = "", body = "", signature = ""] = good().split(".");
    const chunk = fc.stringMatching(/^[\w-]{0,40}$/);
    const mutated = fc.oneof(
      fc.tuple(chunk, chunk, chunk),
      fc.tuple(fc.constant(head), fc.constant(body), chunk),
      fc.tuple(fc.json().map(part), fc.constant(body), fc.constant(signature)),
      fc.tuple(fc.constant(head), fc.json().map(part), fc.constant(signature)),
    );
    await fc.assert(
      fc.asyncProperty(mutated, async (parts) => {
        expect(await answerTo(app, parts.join("."))).toEqual(REFUSAL);
      }),
      propertyOptions(150),
    );
  });

  it("is refused with random claims that no issuer would write", async () => {
    const app = await start();
    const claim = fc.constantFrom("iss", "aud", "sub", "exp", "nbf");
    const value = fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.array(fc.integer()),
      fc.dictionary(fc.string(), fc.string()),
    );
    await fc.assert(
      fc.asyncProperty(claim, value, async (name, given) => {
        expect(await answerTo(app, saying({ [name]: given }))).toEqual(REFUSAL);
      }),
      propertyOptions(100),
    );
  });
});

describe("a token signed with a key", async () => {
  const key = await signingKey("k1");
  const elliptic = await signingKey("e1", "ES256");
  const stranger = await signingKey("k1");
  const pem = createPublicKey({ key: key.jwk as JsonWebKey, format: "jwk" }).export({ type: "spki", format: "pem" });
  const RS = { alg: "RS256", kid: "k1" };
  const HS = { ...HS256, kid: "k1" };
  const zeros = (signer: SigningKey): Promise<string> =>
    signer.sign().then((token) => token.replace(/[^.]+$/, Buffer.alloc(64).toString("base64url")));

  const tokens: readonly (readonly [what: string, token: () => string | Promise<string>])[] = [
    ["is signed by a stranger's key of the same id", () => stranger.sign()],
    ["names a key nobody has", () => key.sign({}, { kid: "k2" })],
    ["names a key by a path", () => key.sign({}, { kid: "../../dev/null" })],
    ["names no key while several fit", () => elliptic.sign({}, { kid: undefined })],
    ["names a key of another kind", () => key.sign({}, { kid: "e1" })],
    ["is signed with the public key as secret, as PEM", () => forge(HS, goodClaims(), pem as string)],
    ["is signed with the public key as secret, without line end", () => forge(HS, goodClaims(), String(pem).trim())],
    ["is signed with the public key as secret, as JWK", () => forge(HS, goodClaims(), JSON.stringify(key.jwk))],
    [
      "is signed with the public key as secret, as modulus",
      () => forge(HS, goodClaims(), Buffer.from(key.jwk.n as string, "base64url")),
    ],
    ["is signed with a secret and says RS256", () => forge(RS, goodClaims())],
    ["says alg none", () => forge({ alg: "none", kid: "k1" }, goodClaims())],
    ["brings the key it was signed with", () => stranger.sign({}, { kid: "k9", jwk: stranger.jwk })],
    ["says where its key is", () => stranger.sign({}, { kid: "k9", jku: "https://evil.test/jwks.json" })],
    ["has zeros for signature", () => zeros(elliptic)],
    ["has expired", () => key.sign({ exp: now() - 60 })],
    ["is for another audience", () => key.sign({ aud: "books" })],
  ];
  const start = (): Promise<WhoApp> =>
    serveWho({ jwks: { keys: [key.jwk, elliptic.jwk, { ...elliptic.jwk, kid: "e2" }] }, ...expected });

  it("is accepted when it is valid", async () => {
    const app = await start();
    expect(await app.ask(await key.sign())).toMatchObject({ status: 200, json: { user: { id: "ann" } } });
    expect((await app.ask(await elliptic.sign())).status).toBe(200);
    expect((await app.ask(await key.sign({}, { kid: undefined }))).status).toBe(200);
  });

  it.each(tokens)("is refused like any other invalid one when it %s", async (_what, token) => {
    expect(await answerTo(await start(), await token())).toEqual(REFUSAL);
  });

  it("is refused with an algorithm of the same key that is not on the list", async () => {
    const app = await serveWho({ jwks: { keys: [elliptic.jwk, key.jwk] }, algorithms: ["ES256"], ...expected });
    expect(await answerTo(app, await key.sign())).toEqual(REFUSAL);
    expect((await app.ask(await elliptic.sign())).status).toBe(200);
  });
});

describe("the claims of a token", () => {
  const sign = (claims: JWTPayload, typ = "JWT"): Promise<string> =>
    new SignJWT({ ...goodClaims(), ...claims })
      .setProtectedHeader({ alg: "HS256", typ })
      .sign(new TextEncoder().encode(secret));

  it("allow clocks to differ by five seconds, or by the app's tolerance", async () => {
    const app = await serveWho({ secret, ...expected });
    expect((await app.ask(saying({ exp: now() - 4, nbf: now() + 5 }))).status).toBe(200);
    expect(await answerTo(app, saying({ exp: now() - 5 }))).toEqual(REFUSAL);
    expect(await answerTo(app, saying({ nbf: now() + 6 }))).toEqual(REFUSAL);
    const strict = await serveWho({ secret, ...expected, clockTolerance: 0 });
    expect((await strict.ask(saying({ exp: now() + 1, nbf: now() }))).status).toBe(200);
    expect(await answerTo(strict, saying({ exp: now() }))).toEqual(REFUSAL);
    const wide = await serveWho({ secret, ...expected, clockTolerance: 120 });
    expect((await wide.ask(saying({ exp: now() - 60 }))).status).toBe(200);
  });

  it("are limited by the token's age if the app sets a limit", async () => {
    const app = await serveWho({ secret, ...expected, maxTokenAge: 300 });
    expect((await app.ask(saying({ iat: now() - 305 }))).status).toBe(200);
    expect(await answerTo(app, saying({ iat: now() - 306 }))).toEqual(REFUSAL);
    expect(await answerTo(app, saying({ iat: now() + 60 }))).toEqual(REFUSAL);
    expect(await answerTo(app, saying({ iat: undefined }))).toEqual(REFUSAL);
  });

  it("must have the kind that the app requires", async () => {
    const app = await serveWho({ secret, ...expected, typ: "at+jwt" });
    expect((await app.ask(await sign({}, "application/at+jwt"))).status).toBe(200);
    expect(await answerTo(app, await sign({}))).toEqual(REFUSAL);
  });

  it("must name one of the app's audiences", async () => {
    const app = await serveWho({ secret, issuer: ISSUER, audience: ["films", "books"] });
    expect((await app.ask(saying({ aud: ["music", "books"] }))).status).toBe(200);
    expect(await answerTo(app, saying({ aud: "music" }))).toEqual(REFUSAL);
  });
});
