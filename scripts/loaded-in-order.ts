/**
 * Packages whose order of loading matters (src/kernel/container/lend-reflect.ts). Bundles that leave packages out must
 * contain these: imports of packages that are left out run before all other code.
 */
export const LOADED_IN_ORDER = /^(?:tsyringe|reflect-metadata)/;
