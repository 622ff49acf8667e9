/** Who uses the demo. Their ids are fixed, so that tokens and database agree without a look-up. */
export const ada = { id: "ada", name: "Ada", role: "person" } as const;
export const grace = { id: "grace", name: "Grace", role: "admin" } as const;
export const people = [ada, grace] as const;
