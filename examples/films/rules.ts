/** Rules of the catalogue (films and what they refer to): everybody reads it, admins keep it. */
export const catalogueRules = {
  read: ["everyone"],
  create: ["admin"],
  update: ["admin"],
  delete: ["admin"],
} as const;
