import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { unknownKeys } from "../../kernel/index.ts";
import { algorithmsOf, KEY_PAIR_ALGORITHMS, SECRET_ALGORITHMS } from "./algorithms.ts";
import { claimProblems } from "./claim-problems.ts";
import type { JwtAuthOptions } from "./jwt-auth-options.ts";
import { secretProblems } from "./secret-problems.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** What is wrong with an address of keys, or with the keys themselves. */
function jwksProblems(jwks: unknown): string[] {
  if (typeof jwks === "string" || jwks instanceof URL) return addressProblems(jwks);
  const keys = typeof jwks === "object" && jwks !== null ? (jwks as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0)
    return ["`jwks` is the address of a key set, or a key set: { keys: [...] } with at least one key"];
  return keys.flatMap((key: unknown, index) => {
    const reason = keyProblem(key);
    return reason === undefined ? [] : [`\`jwks.keys[${index}]\` ${reason}`];
  });
}

function addressProblems(address: string | URL): string[] {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  if (url === undefined) return ["`jwks` must be an address such as https://issuer.example/.well-known/jwks.json"];
  // An attacker who can change the keys in transit can sign any token.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK.includes(url.hostname)))
    return ["`jwks` must be an https address; http is for this machine only"];
  return url.username === "" && url.password === "" ? [] : ["`jwks` must be an address without user name and password"];
}

function keyProblem(jwk: unknown): string | undefined {
  if (typeof jwk !== "object" || jwk === null) return "is not a key";
  if ("d" in jwk) return "is a private key; only its public part belongs here";
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
  } catch {
    return "is not a public key (RSA, EC or OKP)";
  }
  const { modulusLength = 2_048 } = key.asymmetricKeyDetails ?? {};
  return modulusLength < 2_048 ? `has ${modulusLength} bits and needs 2048 (RFC 7518 section 3.3)` : undefined;
}

/** Numbers among the options: the least and the most each may be. */
const RANGES = {
  clockTolerance: [0, 300],
  maxTokenAge: [1, Number.MAX_SAFE_INTEGER],
  jwksTimeoutMs: [1, 60_000],
  jwksCooldownMs: [0, 86_400_000],
  jwksMaxAgeMs: [0, 86_400_000],
} as const;
const KNOWN = ["secret", "jwks", "issuer", "audience", "algorithms", "typ", "user", ...Object.keys(RANGES)];

/** What is wrong with the options. One that is misspelt would protect nothing, so it is wrong, too. */
export function checkOptions(options: JwtAuthOptions): string[] {
  const { secret, jwks, typ, user } = options;
  const algorithms: unknown = algorithmsOf(options);
  const list = Array.isArray(algorithms) ? algorithms : [];
  const problems = [...claimProblems(options), ...algorithmProblems(list, jwks === undefined)];
  if (secret !== undefined && jwks !== undefined) problems.push("`secret` and `jwks` exclude each other; keep one");
  else if (jwks !== undefined) problems.push(...jwksProblems(jwks));
  else if (secret !== undefined) problems.push(...secretProblems(secret, list));
  else problems.push("`secret` or `jwks` is missing; a secret is made with: openssl rand -base64 48");
  if (typ !== undefined && (typeof typ !== "string" || typ === "")) problems.push("`typ` must be text such as at+jwt");
  if (user !== undefined && typeof user !== "function") problems.push("`user` must be a function of the claims");
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      problems.push(`\`${name}\` must be a whole number from ${least} to ${most}`);
  }
  return [...problems, ...unknownKeys(options, KNOWN)];
}

function algorithmProblems(algorithms: readonly unknown[], bySecret: boolean): string[] {
  const known: readonly unknown[] = bySecret ? SECRET_ALGORITHMS : KEY_PAIR_ALGORITHMS;
  const choice = `with ${bySecret ? "a secret" : "keys"} there are ${known.join(", ")}`;
  if (algorithms.length === 0) return [`\`algorithms\` must be a list of one or more; ${choice}`];
  return algorithms
    .filter((name) => !known.includes(name))
    .map((name) => `\`algorithms\`: "${String(name)}" is none that can be used here; ${choice}`);
}
