import type { HookRegistry } from "../hooks/hook-registry.ts";
import type { Tracer } from "../ports/tracer.ts";

/** The functions of operation hooks as a tracer sees them, where there is one. */
export function tracedHooks(hooks: HookRegistry, tracer: Tracer | undefined): Pick<HookRegistry, "listFor"> {
  if (tracer === undefined) return hooks;
  return {
    listFor: (name, entity, kind) =>
      hooks
        .listFor(name, entity, kind)
        .map((hook) => ({ ...hook, run: (payload) => tracer.hook(hook, () => hook.run(payload)) })),
  };
}
