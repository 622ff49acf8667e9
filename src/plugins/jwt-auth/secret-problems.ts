import { SECRET_BYTES } from "./algorithms.ts";

/** What is wrong with a shared secret for these algorithms. Says nothing about what is in it. */
export function secretProblems(secret: unknown, algorithms: readonly unknown[]): string[] {
  if (typeof secret !== "string" && !(secret instanceof Uint8Array))
    return ["`secret` is missing; it is text or bytes, made with: openssl rand -base64 48"];
  const bytes = Buffer.byteLength(secret);
  const longest = Math.max(32, ...algorithms.map((name) => SECRET_BYTES[name as keyof typeof SECRET_BYTES] ?? 0));
  return bytes >= longest ? [] : [`\`secret\` has ${bytes} bytes and needs ${longest} for ${algorithms.join(", ")}`];
}
