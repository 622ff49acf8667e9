import { createSign, generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AUDIENCE, ISSUER, keyServer, signingKey } from "./key-server.ts";
import { serveWho } from "./who-app.ts";

const expected = { issuer: ISSUER, audience: AUDIENCE };
const [one, two] = await Promise.all([signingKey("k1"), signingKey("k2", "ES256")]);

// Cooldowns pass when a test says so, however slow the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

describe("keys at an address", () => {
  it("are fetched once for a crowd of tokens, and not for a caller without one", async () => {
    const issuer = await keyServer(one.jwk, two.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    expect((await app.ask()).json.kind).toBe("anonymous");
    expect(issuer.hits).toBe(0);
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).sign()));
    const answers = await Promise.all(tokens.map((token) => app.ask(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(issuer.hits).toBe(1);
  });

  it("are fetched again for a key that is new", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: new URL(issuer.address), ...expected });
    expect((await app.ask(await one.sign())).status).toBe(200);
    issuer.keys = [two.jwk];
    pass(30_001);
    expect((await app.ask(await two.sign())).status).toBe(200);
    expect(issuer.hits).toBe(2);
    expect((await app.ask(await one.sign())).status).toBe(401);
  });

  it("are not fetched for each made-up key id", async () => {
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

  it("are not trusted for ever", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksMaxAgeMs: 60_000 });
    expect((await app.ask(await one.sign())).status).toBe(200);
    issuer.keys = [two.jwk];
    pass(60_001);
    expect((await app.ask(await one.sign())).status).toBe(401);
    expect(issuer.hits).toBe(2);
  });

  it("that cannot be had are 503, and have it tried again after a moment", async () => {
    const issuer = await keyServer(one.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    await issuer.stop();
    const answer = await app.ask(await one.sign());
    expect(answer).toMatchObject({ status: 503, json: { code: "UNAVAILABLE" } });
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(answer.text + app.lines.join()).not.toContain("127.0.0.1");
    await issuer.start();
    pass(1_500);
    expect((await app.ask(await one.sign())).status).toBe(503);
    expect(issuer.hits).toBe(0);
    pass(501); // two seconds after the fetch, not after whoever asked last
    expect((await app.ask(await one.sign())).status).toBe(200);
  });

  it("that cannot be had are no reason to refuse a token whose key is known, or to let a new one in", async () => {
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
    ["a private key", { keys: [one.privateJwk] }],
  ])("are 503 when the address answers with %s", async (_what, change) => {
    const issuer = Object.assign(await keyServer(one.jwk), change);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    expect((await app.ask(await one.sign())).status).toBe(503);
    expect((await app.ask(await one.sign())).status).toBe(503);
    expect(issuer.hits).toBe(1);
  });

  it("are 503 when the address takes too long", async () => {
    const issuer = await keyServer(one.jwk);
    issuer.status = 0;
    const app = await serveWho({ jwks: issuer.address, ...expected, jwksTimeoutMs: 50 });
    expect((await app.ask(await one.sign())).json).toMatchObject({
      status: 503,
      message: "The keys that tokens are checked with cannot be fetched at the moment",
    });
  });

  it("that are too short are 503", async () => {
    const short = await shortKey();
    const issuer = await keyServer(short.jwk);
    const app = await serveWho({ jwks: issuer.address, ...expected });
    expect((await app.ask(short.token)).status).toBe(503);
  });
});

/** A key of 1024 bits, which jose refuses to make and to sign with. */
async function shortKey() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "short" } as (typeof one)["jwk"];
  const [, claims] = (await one.sign()).split(".");
  const header = Buffer.from(JSON.stringify({ alg: "RS256", kid: "short" })).toString("base64url");
  const signature = createSign("sha256").update(`${header}.${claims}`).sign(privateKey).toString("base64url");
  return { jwk, token: `${header}.${claims}.${signature}` };
}
