import { createHmac } from "node:crypto";

/** The callers; root is an administrator. */
export type CallerName = "anonymous" | "ann" | "bob" | "root";

export const TOKEN_SECRET = "a secret of thirty-two bytes, and more than that";
export const TOKEN_CLAIMS = { issuer: "https://fuzz.invalid", audience: "fuzz" } as const;

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token that never changes, so that a seed gives the same bytes in every run. */
function tokenOf(name: string): string {
  const claims = { sub: name, iss: TOKEN_CLAIMS.issuer, aud: TOKEN_CLAIMS.audience, iat: 1_700_000_000 };
  const rights = name === "root" ? { role: "admin" } : {};
  const signed = `${base64url({ alg: "HS256", typ: "JWT" })}.${base64url({ ...claims, exp: 9_000_000_000, ...rights })}`;
  return `${signed}.${createHmac("sha256", TOKEN_SECRET).update(signed).digest("base64url")}`;
}

export const TOKENS: Readonly<Record<Exclude<CallerName, "anonymous">, string>> = {
  ann: tokenOf("ann"),
  bob: tokenOf("bob"),
  root: tokenOf("root"),
};
