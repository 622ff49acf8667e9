import { createHmac } from "node:crypto";
import { AUDIENCE, ISSUER, TOKEN_SECRET } from "./attacked-app.ts";
import type { Attack, SentInit } from "./probe.ts";

const HASHES = new Map([
  ["HS384", "sha384"],
  ["HS512", "sha512"],
]);
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function signed(header: object, claims: object, key: string | Buffer, hash = "sha256"): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac(hash, key).update(text).digest("base64url")}`;
}

/** Tokens that the app did not sign, or signed for another user. `own` is a token that it did sign. */
function forgeries(own: string): readonly (readonly [what: string, token: string])[] {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { sub: "root", role: "admin", iss: ISSUER, aud: AUDIENCE, iat: now, exp: now + 600 };
  const HS256 = { alg: "HS256", typ: "JWT" };
  const [header = "", payload = "", signature = ""] = own.split(".");
  const ours = (change: object, head: object = HS256) => signed(head, { ...claims, ...change }, TOKEN_SECRET);
  const none = ["none", "None", "NONE", "nOnE", "", null, undefined].flatMap((alg): [string, string][] => [
    [`alg ${alg}`, `${part({ alg })}.${part(claims)}.`],
    [`alg ${alg} and a signature`, `${part({ alg })}.${part(claims)}.${signature}`],
    [`alg ${alg} and no dot`, `${part({ alg })}.${part(claims)}`],
  ]);
  const keys = [
    "",
    " ",
    "secret",
    "changeme",
    ISSUER,
    AUDIENCE,
    "null",
    "undefined",
    part(HS256),
    TOKEN_SECRET.slice(1),
  ];
  return [
    ...none,
    ["another's name in a signed token", `${header}.${part(claims)}.${signature}`],
    ["a signature of nothing", `${header}.${part(claims)}.${Buffer.alloc(32).toString("base64url")}`],
    ["half a signature", `${header}.${payload}.${signature.slice(0, 20)}`],
    ...keys.map((key): [string, string] => [`a key that is "${key}"`, signed(HS256, claims, key)]),
    ...["HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA", "constructor", "HS1"].map((alg): [string, string] => [
      `alg ${alg}, signed with the secret`,
      signed({ alg }, claims, TOKEN_SECRET, alg.startsWith("HS") ? (HASHES.get(alg) ?? "sha1") : "sha256"),
    ]),
    ["a key in its header", signed({ ...HS256, jwk: { kty: "oct", k: part("mine") } }, claims, '"mine"')],
    ["an address of keys", signed({ ...HS256, jku: "http://127.0.0.1:1/keys" }, claims, "mine")],
    ["a key id that is a path", signed({ ...HS256, kid: "../../../../dev/null" }, claims, "")],
    ["a key id that is SQL", signed({ ...HS256, kid: "x' union select 'mine" }, claims, "mine")],
    ["a payload that is not encoded", ours({}, { ...HS256, b64: false, crit: ["b64"] })],
    ["no audience", ours({ aud: undefined })],
    ["an empty audience", ours({ aud: [] })],
    ["another audience", ours({ aud: "another" })],
    ["an audience that begins like ours", ours({ aud: `${AUDIENCE}.attacker.example` })],
    ["no issuer", ours({ iss: undefined })],
    ["another issuer", ours({ iss: `${ISSUER}.attacker.example` })],
    ["no end", ours({ exp: undefined })],
    ["an end that is past", ours({ exp: now - 60 })],
    ["an end that is text", ours({ exp: "never" })],
    ["a beginning in the future", ours({ nbf: now + 600 })],
    ["nobody", ours({ sub: undefined })],
    ["an empty name", ours({ sub: "" })],
    ["a list of names", ours({ sub: ["root"] })],
    ["a condition as a name", ours({ sub: { not: "x" } })],
    ["a number as a name", ours({ sub: 0 })],
    ["a NUL in the name", ours({ sub: "root\u0000" })],
  ];
}

/** Callers with a false identity. */
export const forgedTokens: Attack = {
  name: "forged tokens and headers",
  async run(probe) {
    const own = probe.tokens.ann ?? "";
    const me = await probe.send("ann", "GET", "/who");
    probe.control(me.json?.user?.id === "ann", "ann is not recognised");
    const attempts: [what: string, init: SentInit, query?: string][] = forgeries(own).map(([what, token]) => [
      what,
      { token },
    ]);
    for (const scheme of ["Basic", "Token", "JWT", "BearerX", "", "Digest"])
      attempts.push([`the scheme "${scheme}"`, { headers: { authorization: `${scheme} ${own}`.trim() } }]);
    attempts.push(["two tokens", { headers: { authorization: `Bearer ${own}, Bearer ${own}` } }]);
    const claimed = { id: "root", role: "admin" };
    for (const name of ["x-user-id", "x-user", "x-forwarded-user", "x-remote-user", "x-authenticated-user", "x-role"])
      attempts.push([`the header ${name}`, { headers: { [name]: name === "x-role" ? "admin" : "root" } }]);
    attempts.push(["a header with JSON", { headers: { "x-user": JSON.stringify(claimed) } }]);
    attempts.push(["a cookie", { headers: { cookie: `token=${own}; session=root; user=root` } }]);
    for (const name of ["access_token", "token", "jwt", "user", "userId"])
      attempts.push([`the parameter ${name}`, {}, `?${name}=${name.startsWith("user") ? "root" : own}`]);
    for (const [what, init, query = ""] of attempts)
      for (const path of ["/mine", "/who", "/every-vault", "/api/letters", "/api/vaults"]) {
        const { status, json } = await probe.send("anonymous", "GET", path + query, init);
        const isSomebody = path === "/who" ? status < 400 && json.kind !== "anonymous" : status < 400;
        if (isSomebody) probe.found(`${what} is somebody at ${path} (${status})`);
        if (status >= 500) probe.found(`${what} was answered ${status} at ${path}`);
      }
  },
};
