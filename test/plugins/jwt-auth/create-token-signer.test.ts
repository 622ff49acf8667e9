import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConfigurationError, PluginError } from "../../../src/index.ts";
import { createTokenSigner, type TokenSignerOptions } from "../../../src/plugins/jwt-auth/index.ts";
import { AUDIENCE, ISSUER } from "./key-server.ts";
import { serveWho } from "./who-app.ts";

const options: TokenSignerOptions = { secret: "s".repeat(64), issuer: ISSUER, audience: AUDIENCE };

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

describe("a token signer", () => {
  it("creates tokens that an app with the same options accepts, for fifteen minutes", async () => {
    const app = await serveWho(options);
    const token = await createTokenSigner(options)({ sub: "ann", role: "admin" });
    expect((await app.ask(token)).json).toMatchObject({ user: { id: "ann", role: "admin" }, isAdmin: true });
    vi.setSystemTime(Date.now() + 900_000);
    expect((await app.ask(token)).status).toBe(200); // the tolerance
    vi.setSystemTime(Date.now() + 5_000);
    expect((await app.ask(token)).status).toBe(401);
  });

  it("creates tokens with the given algorithm, kind, audience and duration", async () => {
    const sign = createTokenSigner({
      ...options,
      algorithm: "HS512",
      typ: "at+jwt",
      audience: ["films", "books"],
      expiresIn: 60,
    });
    const token = await sign({ sub: "ann" });
    const iat = Math.floor(Date.now() / 1_000);
    expect(decodeProtectedHeader(token)).toEqual({ alg: "HS512", typ: "at+jwt" });
    expect(decodeJwt(token)).toEqual({ sub: "ann", iss: ISSUER, aud: ["films", "books"], iat, exp: iat + 60 });
    const app = await serveWho({ ...options, algorithms: ["HS512"], typ: "at+jwt" });
    expect((await app.ask(token)).status).toBe(200);
  });

  it("does not let claims override the signer", async () => {
    const token = await createTokenSigner(options)({ sub: "ann", iss: "x", aud: "x", exp: 9e9, iat: 1 });
    const iat = Math.floor(Date.now() / 1_000);
    expect(decodeJwt(token)).toEqual({ sub: "ann", iss: ISSUER, aud: AUDIENCE, iat, exp: iat + 900 });
  });

  it.each([
    [{ ...options, secret: undefined }, "`secret` is missing"],
    [{ ...options, secret: "s".repeat(31) }, "`secret` has 31 bytes and needs 32 for HS256"],
    [{ ...options, secret: "s".repeat(63), algorithm: "HS512" }, "`secret` has 63 bytes and needs 64 for HS512"],
    [{ ...options, issuer: "" }, "`issuer` is missing"],
    [{ ...options, audience: [""] }, "`audience` is missing"],
    [{ ...options, algorithm: "RS256" }, "`algorithm` must be one of HS256, HS384, HS512"],
    [{ ...options, expiresIn: 0 }, "`expiresIn` must be a whole number of seconds"],
    [{ ...options, expiresIn: "15m" }, "`expiresIn` must be a whole number of seconds"],
  ])("cannot be created with invalid options: %#", (wrong, problem) => {
    const make = () => createTokenSigner(wrong as TokenSignerOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(`createTokenSigner: ${problem}`);
  });

  it("refuses claims that no app would accept", async () => {
    const sign = createTokenSigner(options);
    await expect(sign({} as never)).rejects.toThrow(PluginError);
    await expect(sign({ sub: "" })).rejects.toThrow("A token needs `sub`");
    await expect(sign({ sub: "ann", roles: Array(2_000).fill("editor") })).rejects.toThrow("8192 bytes");
  });
});
