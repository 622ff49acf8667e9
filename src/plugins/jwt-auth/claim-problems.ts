const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** What is wrong with `issuer` and `audience`; both are needed (RFC 8725 sections 3.8 and 3.9). */
export function claimProblems({ issuer, audience }: { issuer?: unknown; audience?: unknown }): string[] {
  const isAudience = Array.isArray(audience) ? audience.length > 0 && audience.every(isText) : isText(audience);
  return [
    ...(isText(issuer) ? [] : ["`issuer` is missing; it is the `iss` of the tokens"]),
    ...(isAudience ? [] : ["`audience` is missing; it is the name of this API in the `aud` of the tokens"]),
  ];
}
