/** Tokens that internal services send to each other: the options to verify and to sign them. */
export const tokens = (secret: string) => ({ secret, issuer: "https://house.example", audience: "billing" });
