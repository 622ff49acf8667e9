import type { Operation, OperationInput, OperationScope } from "../../../gate/index.ts";

/**
 * The scope of a handler written for the app: its response may depend on what its operations read, in any form. Noting
 * these records lets a repeated response obey the rights that the caller has then.
 */
export function notingScope(scope: OperationScope): OperationScope {
  if (scope.state.shown === undefined) return scope; // the response is not kept
  const own: Partial<OperationScope> = {
    run: async (input) => note(input, await scope.run(input)),
    transaction: (work, options) => scope.transaction((inner) => work(notingScope(inner)), options),
  };
  return new Proxy(scope, {
    get(target, name) {
      const given: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      return typeof given === "function" ? given.bind(target) : given;
    },
  });
}

function note({ kind }: OperationInput, operation: Operation): Operation {
  const { entity, records, scope } = operation;
  const { shown } = scope.state;
  if (kind === "list" || kind === "count") shown?.noteCount(entity);
  if (kind === "list" || kind === "read") for (const record of records) shown?.note(entity, record);
  return operation;
}
