import type { HookMap, HookName } from "./hook-map.ts";

const KERNEL_HOOKS: Readonly<Record<keyof HookMap, true>> = {
  "request:start": true,
  "request:end": true,
  "route:around": true,
  "route:authorize": true,
  "access:mask": true,
  "operation:authorize": true,
  "operation:narrow": true,
  "operation:normalize": true,
  "operation:validate": true,
  "operation:protect": true,
  "operation:execute": true,
  "operation:reveal": true,
  "operation:join": true,
  "operation:redact": true,
  "operation:committed": true,
};

/** The names of the kernel's hooks. */
export const HOOK_NAMES: readonly HookName[] = Object.freeze(Object.keys(KERNEL_HOOKS) as HookName[]);
