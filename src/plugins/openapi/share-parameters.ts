import type { JsonSchema } from "../../entity/index.ts";
import type { OperationObject } from "./document.ts";

/** An operation, and whose it is. */
export interface OwnedOperation {
  readonly path: string;
  readonly method: string;
  /** Name of the schema of its records, or of its plugin. */
  readonly owner: string;
  readonly operation: OperationObject;
  /** What tells each of its parameters from others. */
  readonly keys: readonly string[];
}

const UNSAFE = /[^A-Za-z0-9._-]/g;

/** What tells parameters from others, in their order: those of one owner, but for what paths have everywhere. */
export function keysOf(owner: string, { parameters = [] }: OperationObject): readonly string[] {
  return parameters.map((parameter) => `${parameter.in === "path" ? "" : owner} ${JSON.stringify(parameter)}`);
}

/** The same operations, with parameters that several of one owner have in one place: lists, counts and exports filter alike. */
export function shareParameters(operations: readonly OwnedOperation[]): {
  readonly operations: readonly OwnedOperation[];
  readonly parameters: Readonly<Record<string, JsonSchema>>;
} {
  const uses = new Map<string, number>();
  for (const { keys } of operations) for (const key of keys) uses.set(key, (uses.get(key) ?? 0) + 1);
  const names = new Map<string, string>();
  const parameters: Record<string, JsonSchema> = {};

  function share(owner: string, parameter: JsonSchema, key: string): JsonSchema {
    if ((uses.get(key) ?? 0) < 2) return parameter;
    const name = names.get(key) ?? freeName(parameter.in === "path" ? "" : `${owner}.`, String(parameter.name));
    names.set(key, name);
    parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  }
  function freeName(prefix: string, plain: string): string {
    const wanted = (prefix + plain).replace(UNSAFE, "-");
    let name = wanted;
    for (let n = 2; Object.hasOwn(parameters, name); n++) name = `${wanted}.${n}`;
    return name;
  }

  const shared = operations.map((owned) => {
    const { operation, owner, keys } = owned;
    if (operation.parameters === undefined) return owned;
    const given = operation.parameters.map((parameter, index) => share(owner, parameter, keys[index] as string));
    return { ...owned, operation: { ...operation, parameters: given } };
  });
  return { operations: shared, parameters };
}
