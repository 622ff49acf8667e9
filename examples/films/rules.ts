/** Rules of the catalogue (films and the records that they refer to): everyone reads, admins write. */
export const catalogueRules = {
  read: ["everyone"],
  create: ["admin"],
  update: ["admin"],
  delete: ["admin"],
} as const;
