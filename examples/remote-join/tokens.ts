/** Tokens that services of the house show each other; how to check them, and how to sign them. */
export const tokens = (secret: string) => ({ secret, issuer: "https://house.example", audience: "billing" });
