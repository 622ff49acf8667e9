import { generateKeyPairSync } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigurationError, keelson, memoryDriver, noopLogger } from "../../../src/index.ts";
import { createTokenSigner, type JwtAuthOptions, jwtAuth } from "../../../src/plugins/jwt-auth/index.ts";
import { AUDIENCE, ISSUER, signingKey } from "./key-server.ts";
import { serveWho } from "./who-app.ts";

const secret = "correct-horse-battery-staple-0123456789";
const expected = { issuer: ISSUER, audience: AUDIENCE };
const key = await signingKey("k1");
const jwks = { keys: [key.jwk] };

/** The problems an app with these options reports when it starts. */
function problemsOf(options: unknown, config: object = {}): readonly string[] {
  try {
    const plugins = [jwtAuth(options as JwtAuthOptions)];
    void keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins, ...config }).close();
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
}

const rsa = (bits: number) => generateKeyPairSync("rsa", { modulusLength: bits }).publicKey.export({ format: "jwk" });

describe("the options of jwtAuth", () => {
  it.each([
    [{ secret, ...expected }],
    [{ secret: "s".repeat(32), ...expected }],
    [{ secret: "é".repeat(16), ...expected }],
    [{ secret: new Uint8Array(32), ...expected }],
    [{ secret: "s".repeat(64), algorithms: ["HS256", "HS512"], ...expected }],
    [{ jwks, ...expected }],
    [{ jwks, issuer: ISSUER, audience: ["a", "b"], algorithms: ["PS512", "EdDSA"], typ: "at+jwt" }],
    [{ jwks: "https://issuer.test/jwks.json", ...expected, jwksTimeoutMs: 100, jwksCooldownMs: 0, jwksMaxAgeMs: 0 }],
    [{ jwks: new URL("http://localhost:8080/jwks.json"), ...expected, clockTolerance: 0, maxTokenAge: 1 }],
    [{ jwks: "http://[::1]/jwks.json", ...expected, user: () => null, secret: undefined }],
  ])("are accepted: %#", (options) => {
    expect(problemsOf(options)).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{ ...expected }, "`secret` or `jwks` is missing; a secret is made with: openssl rand -base64 48"],
    [{ secret: 12345, ...expected }, "`secret` is missing; it is text or bytes, made with: openssl rand -base64 48"],
    [{ secret: "s".repeat(31), ...expected }, "`secret` has 31 bytes and needs 32 for HS256"],
    [
      { secret: "s".repeat(63), algorithms: ["HS256", "HS512"], ...expected },
      "`secret` has 63 bytes and needs 64 for HS256, HS512",
    ],
    [{ secret: new Uint8Array(31), ...expected }, "`secret` has 31 bytes and needs 32 for HS256"],
    [{ secret, jwks, ...expected }, "`secret` and `jwks` exclude each other; keep one"],
    [{ secret, audience: AUDIENCE }, "`issuer` is missing; it is the `iss` of the tokens"],
    [{ secret, issuer: ISSUER }, "`audience` is missing; it is the name of this API in the `aud` of the tokens"],
    [
      { secret, issuer: ISSUER, audience: [] },
      "`audience` is missing; it is the name of this API in the `aud` of the tokens",
    ],
    [
      { secret, algorithms: ["RS256"], ...expected },
      '`algorithms`: "RS256" cannot be used here; with a secret there are HS256, HS384, HS512',
    ],
    [
      { jwks, algorithms: ["RS256", "HS256"], ...expected },
      '`algorithms`: "HS256" cannot be used here; with keys there are RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519',
    ],
    [
      { secret, algorithms: ["HS256", "none"], ...expected },
      '`algorithms`: "none" cannot be used here; with a secret there are HS256, HS384, HS512',
    ],
    [
      { secret, algorithms: [], ...expected },
      "`algorithms` must be a list of one or more; with a secret there are HS256, HS384, HS512",
    ],
    [
      { jwks: "issuer.test", ...expected },
      "`jwks` must be an address such as https://issuer.example/.well-known/jwks.json",
    ],
    [{ jwks: "http://issuer.test", ...expected }, "`jwks` must be an https address; http is for this machine only"],
    [{ jwks: "file:///keys.json", ...expected }, "`jwks` must be an https address; http is for this machine only"],
    [{ jwks: "https://me:pw@issuer.test", ...expected }, "`jwks` must be an address without user name and password"],
    [
      { jwks: { keys: [] }, ...expected },
      "`jwks` is the address of a key set, or a key set: { keys: [...] } with at least one key",
    ],
    [
      { jwks: key.jwk, ...expected },
      "`jwks` is the address of a key set, or a key set: { keys: [...] } with at least one key",
    ],
    [{ jwks: { keys: ["k"] }, ...expected }, "`jwks.keys[0]` is not a key"],
    [
      { jwks: { keys: [key.jwk, key.privateJwk] }, ...expected },
      "`jwks.keys[1]` is a private key; only its public part belongs here",
    ],
    [
      { jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] }, ...expected },
      "`jwks.keys[0]` is not a public key (RSA, EC or OKP)",
    ],
    [
      { jwks: { keys: [rsa(1024)] }, ...expected },
      "`jwks.keys[0]` has 1024 bits and needs 2048 (RFC 7518 section 3.3)",
    ],
    [{ secret, ...expected, typ: "" }, "`typ` must be text such as at+jwt"],
    [{ secret, ...expected, user: "ann" }, "`user` must be a function of the claims"],
    [{ secret, ...expected, clockTolerance: 301 }, "`clockTolerance` must be a whole number from 0 to 300"],
    [{ secret, ...expected, clockTolerance: "5 s" }, "`clockTolerance` must be a whole number from 0 to 300"],
    [{ secret, ...expected, maxTokenAge: 0 }, "`maxTokenAge` must be a whole number from 1 to 9007199254740991"],
    [{ secret, ...expected, maxTokenAgo: 60 }, 'there is no option "maxTokenAgo". Did you mean "maxTokenAge"?'],
  ])("keep the app from starting: %#", (options, problem) => {
    expect(problemsOf(options)).toEqual([`jwt-auth: ${problem}`]);
  });

  it("are reported all at once, with the other problems of the app", () => {
    const problems = problemsOf(undefined, { apiPrefix: "?" });
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain("apiPrefix");
  });

  it("exclude a getUser in the configuration", () => {
    expect(problemsOf({ secret, ...expected }, { getUser: () => null })).toEqual([
      'Callers are recognised by `getUser` of the configuration and plugin "jwt-auth"; only one of them can do that',
    ]);
  });

  it("are copied when the plugin is created", async () => {
    const bytes = new Uint8Array(32).fill(1);
    const keys = [key.jwk];
    const options = { secret: bytes, ...expected };
    const [byBytes, byKeys] = [await serveWho(options), await serveWho({ jwks: { keys }, ...expected })];
    keys.pop();
    bytes.fill(2);
    options.audience = "other";
    expect((await byKeys.ask(await key.sign())).status).toBe(200);
    const sign = createTokenSigner({ ...expected, secret: new Uint8Array(32).fill(1) });
    expect((await byBytes.ask(await sign({ sub: "ann" }))).status).toBe(200);
  });
});

describe("the secret", () => {
  const short = "swordfish-and-nothing-more";

  it("does not appear in errors about it", () => {
    const error = (() => {
      try {
        return keelson({
          entities: [],
          driver: memoryDriver(),
          logger: noopLogger,
          plugins: [jwtAuth({ secret: short, ...expected })],
        });
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(short);
  });

  it("does not appear in the plugin, the app or the log, and neither do tokens", async () => {
    const plugin = jwtAuth({ secret, ...expected });
    const api = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins: [plugin] });
    const shown = inspect([plugin, api], { depth: 20, showHidden: true, getters: true }) + JSON.stringify(plugin);
    await api.close();
    expect(shown).toContain("jwt-auth");
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(Buffer.from(secret).toString("hex").slice(0, 16));

    const app = await serveWho({ secret, ...expected });
    const tokens = [await key.sign({ sub: "private-name" }), "private-name", "private.na.me"];
    for (const token of tokens) expect((await app.ask(token)).status).toBe(401);
    const log = app.lines.join("\n");
    expect(log).toContain('debug Token refused {"reason":"ERR_JOSE_ALG_NOT_ALLOWED"}');
    for (const hidden of [secret, "private", ...tokens]) expect(log).not.toContain(hidden);
  });
});
