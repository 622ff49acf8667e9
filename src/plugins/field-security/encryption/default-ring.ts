import { createKeyRing, type KeyRing } from "./key-ring.ts";

/** The process-wide ring that the free functions act on. Apps that are given keys of their own do not look at it. */
export const defaultRing: KeyRing = createKeyRing();
