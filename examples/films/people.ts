/** The users of the demo. Their ids are fixed, so that tokens and database agree without a look-up. */
export const ada = { id: "ada", name: "Ada", email: "ada@films.example", role: "person" } as const;
export const grace = { id: "grace", name: "Grace", email: "grace@films.example", role: "admin" } as const;
export const people = [ada, grace] as const;

export type PersonId = (typeof people)[number]["id"];
