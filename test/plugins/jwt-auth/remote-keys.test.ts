import { createSign, generateKeyPairSync } from "node:crypto";
import type { JWK } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AUDIENCE, ISSUER, keyServer, signingKey } from "./key-server.ts";
import { serveWho } from "./who-app.ts";

const expected = { issuer: ISSUER, audience: AUDIENCE };
const [one, two] = await Promise.all([signingKey("k1"), signingKey("k2", "ES256")]);

// The clock is mocked, so that cooldowns do not depend on the speed of the machine.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

describe("keys at a URL", () => {
  it("are fetched once for many tokens, and not for a caller without one", async () => {
    const issuer = await keyServer(one.jwk, two.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    expect((await app.ask()).json.kind).toBe("anonymous");
    expect(issuer.hits).toBe(0);
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).sign()));
    const answers = await Promise.all(tokens.map((token) => app.ask(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(issuer.hits).toBe(1);
  });

  it("are fetched again for a new key id", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: new URL(issuer.address), ...expected });
    expect((await app.ask(await one.sign())).status).toBe(200);
    issuer.keys = [two.jwk];
    pass(30_001);
    expect((await app.ask(await two.sign())).status).toBe(200);
    expect(issuer.hits).toBe(2);
    expect((await app.ask(await one.sign())).status).toBe(401);
  });

  it("are not fetched for each invented key id", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    for (const kid of ["a", "b", "c", "d"]) expect((await app.ask(await one.sign({}, { kid }))).status).toBe(401);
    expect(issuer.hits).toBe(1);
    pass(30_001);
    for (const kid of ["e", "f"]) expect((await app.ask(await one.sign({}, { kid }))).status).toBe(401);
    expect(issuer.hits).toBe(2);
  });

  it("are not fetched for a token whose algorithm is not allowed", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, algorithms: ["ES256"], ...expected });
    expect((await app.ask(await one.sign())).status).toBe(401);
    expect(issuer.hits).toBe(0);
  });

  it("are not trusted forever", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksMaxAgeMs: 60_000 });
    expect((await app.ask(await one.sign())).status).toBe(200);
    issuer.keys = [two.jwk];
    pass(60_001);
    expect((await app.ask(await one.sign())).status).toBe(401);
    expect(issuer.hits).toBe(2);
  });

  it("that cannot be fetched are 503, and are fetched again after a cooldown", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    await issuer.stop();
    const answer = await app.ask(await one.sign());
    expect(answer).toMatchObject({ status: 503, json: { code: "UNAVAILABLE" } });
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(answer.text).not.toContain("127.0.0.1");
    await issuer.start();
    pass(1_500);
    expect((await app.ask(await one.sign())).status).toBe(503);
    expect(issuer.hits).toBe(0);
    pass(501); // two seconds after the fetch, not after the last request
    expect((await app.ask(await one.sign())).status).toBe(200);
  });

  it("that cannot be fetched do not affect tokens of known keys, or admit new ones", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    expect((await app.ask(await one.sign())).status).toBe(200);
    await issuer.stop();
    pass(30_001);
    expect((await app.ask(await two.sign())).status).toBe(503);
    expect((await app.ask(await one.sign())).status).toBe(200);
  });

  it.each([
    ["an error", { status: 500 }],
    ["a redirect", { status: 302 }],
    ["no keys", { keys: "none" as never }],
    ["keys that are no objects", { keys: [one.jwk, "none" as never] }],
    ["a list", { body: "[]" }],
    ["null", { body: "null" }],
    ["what is no JSON", { body: '{"keys":[' }],
    ["nothing", { body: " " }],
  ])("are 503 when the URL responds with %s", async (_what, change) => {
    const issuer = Object.assign(await keyServer(one.jwk), change);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    expect((await app.ask(await one.sign())).status).toBe(503);
    expect((await app.ask(await one.sign())).status).toBe(503);
    expect(issuer.hits).toBe(1);
  });

  it("are 503 when the URL takes too long", async () => {
    const issuer = await keyServer(one.jwk);
    issuer.status = 0;
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksTimeoutMs: 50 });
    expect((await app.ask(await one.sign())).json).toMatchObject({
      status: 503,
      message: "The keys that tokens are checked with cannot be fetched at the moment",
    });
  });

  it("are 503 beyond 256 KiB, and the rest is not read", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksTimeoutMs: 60_000 });
    const set = JSON.stringify({ keys: [one.jwk] });
    Object.assign(issuer, { body: set.padEnd(262_145), endless: true });
    expect((await app.ask(await one.sign())).status).toBe(503);
    await issuer.brokenOff;
    Object.assign(issuer, { body: set.padEnd(262_144), endless: false });
    pass(2_001);
    expect((await app.ask(await one.sign())).status).toBe(200);
  });

  it("are 503 when the response stops midway", async () => {
    const issuer = Object.assign(await keyServer(one.jwk), { endless: true });
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksTimeoutMs: 50 });
    expect((await app.ask(await one.sign())).status).toBe(503);
  });

  it("write to the log why they cannot be fetched", async () => {
    const issuer = Object.assign(await keyServer(one.jwk), { status: 500 });
    const app = await serveWho({ jwks: issuer.address, ...expected });
    await app.ask(await one.sign());
    expect(app.lines.join()).toContain("The address of the keys answered with 500");
  });
});

const short = await shortKey();
const UNUSABLE: readonly (readonly [what: string, jwk: JWK, token: () => string | Promise<string>])[] = [
  ["a modulus of 16 bits", { ...one.jwk, kid: "bad", n: "AQAB" }, () => one.sign({}, { kid: "bad" })],
  ["a modulus that is a number", { ...one.jwk, kid: "bad", n: 5 as never }, () => one.sign({}, { kid: "bad" })],
  ["no modulus", { kty: "RSA", e: "AQAB", kid: "bad" }, () => one.sign({}, { kid: "bad" })],
  [
    "a point that is not on the curve",
    { ...two.jwk, kid: "bad", y: two.jwk.x as string },
    () => two.sign({}, { kid: "bad" }),
  ],
  [
    "an operation that public keys do not have",
    { ...one.jwk, kid: "bad", key_ops: ["verify", "sign"] },
    () => one.sign({}, { kid: "bad" }),
  ],
  ["a private part", { ...one.privateJwk, kid: "bad" }, () => one.sign({}, { kid: "bad" })],
  ["1024 bits", short.jwk, () => short.token],
];

describe("an unusable key among others", () => {
  it.each(UNUSABLE)("invalidates only tokens that name it: %s", async (_what, jwk, token) => {
    const issuer = await keyServer(jwk, one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksMaxAgeMs: 60_000 });
    for (const fetches of [1, 2]) {
      expect((await app.ask(await token())).json).toMatchObject({ code: "UNAUTHENTICATED" });
      expect(issuer.hits).toBe(fetches);
      pass(fetches === 1 ? 60_001 : 0); // the next token has the keys fetched again, because their last fetch succeeded
    }
    expect((await app.ask(await one.sign())).status).toBe(200);
    expect(issuer.hits).toBe(2);
    expect(app.lines.filter((line) => line.startsWith("debug Token refused"))).toHaveLength(2);
    expect(app.lines.filter((line) => !line.startsWith("debug"))).toEqual([]);
  });

  it("does so in a key set of the configuration too", async () => {
    const jwk = { ...one.jwk, kid: "bad", key_ops: ["verify", "sign"] };
    const app = await serveWho({ jwks: { keys: [jwk, one.jwk] }, ...expected });
    expect((await app.ask(await one.sign({}, { kid: "bad" }))).status).toBe(401);
    expect((await app.ask(await one.sign())).status).toBe(200);
    expect(app.lines.join()).toContain('debug Token refused {"reason":"its key cannot be used"');
  });
});

/** A key of 1024 bits, which jose refuses to generate and to sign with. */
async function shortKey() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "short" } as (typeof one)["jwk"];
  const [, claims] = (await one.sign()).split(".");
  const header = Buffer.from(JSON.stringify({ alg: "RS256", kid: "short" })).toString("base64url");
  const signature = createSign("sha256").update(`${header}.${claims}`).sign(privateKey).toString("base64url");
  return { jwk, token: `${header}.${claims}.${signature}` };
}
