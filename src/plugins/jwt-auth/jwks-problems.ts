import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** What is wrong with an address of keys, or with the keys themselves. */
export function jwksProblems(jwks: unknown): string[] {
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
  // Whoever can change the keys on their way signs what they like.
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
