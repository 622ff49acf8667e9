import { createPasswordHasher, type PasswordHasher } from "./create-password-hasher.ts";

/** The process-wide hasher of the free functions. */
export const defaultHasher: PasswordHasher = createPasswordHasher();
