import { createHook } from "node:async_hooks";
import {
  createPasswordHasher,
  type PasswordHasher,
} from "../../../../src/plugins/field-security/password/password-hasher.ts";

/** Kinds of hashing that `work` submitted to the thread pool, in order. */
export async function hashingOf(work: () => Promise<unknown>): Promise<string[]> {
  const kinds: string[] = [];
  const hook = createHook({
    init(_id, type) {
      if (type === "PBKDF2REQUEST" || type === "SCRYPTREQUEST") kinds.push(type);
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return kinds;
}

/** A hasher that is busy and has no queue, so it refuses all work until `done`. */
export function busyHasher(): { readonly hasher: PasswordHasher; readonly done: Promise<string> } {
  const hasher = createPasswordHasher({ concurrency: 1, queue: 0 });
  return { hasher, done: hasher.hash("something else", { cost: 4 }) };
}
