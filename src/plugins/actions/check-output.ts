import { isKeelsonError } from "../../entity/index.ts";
import {
  InternalError,
  isWebResponse,
  type OperationScope,
  presentSettled,
  Reply,
  type ValidationFailedError,
} from "../../kernel/index.ts";
import { Accepted } from "./accepted.ts";
import type { CompiledAction } from "./compile-action.ts";

/**
 * What an action with `.output()` answers: the declared fields of what its handler gave, masked for the caller first, so
 * that declaring a field of a record shows nobody more of it. An answer without a body, a `Response`, a stream or bytes
 * pass.
 * @throws InternalError when the handler gives something else than it declares
 */
export async function checkOutput(action: CompiledAction, result: unknown, scope: OperationScope): Promise<unknown> {
  if (result instanceof Accepted) return result;
  if (result instanceof Reply) {
    const { status, body, headers } = result;
    return body === undefined ? result : new Reply(status, await checkOutput(action, body, scope), headers);
  }
  if (isUnread(result)) return result;
  const { name, entity, output, definition } = action;
  const shown = (await presentSettled(result, scope, false)) as Record<string, unknown> | null | undefined;
  try {
    const declared = Object.keys(definition.output ?? {});
    return output?.fromObject(Object.fromEntries(declared.map((key) => [key, shown?.[key]])));
  } catch (error) {
    if (!isKeelsonError(error) || error.status !== 400) throw error;
    const fields = (error as ValidationFailedError).issues?.map(({ path, message }) => `${path.join(".")} ${message}`);
    // For the log: the caller can do nothing about it.
    const cause = `action "${name}" of ${entity.name} gives another output than it declares: ${fields}`;
    throw new InternalError(undefined, { cause: new InternalError(cause) });
  }
}

/** What leaves the app as it is (architecture.md): nothing can be checked in it. */
function isUnread(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isWebResponse(value) || value instanceof Uint8Array || Symbol.asyncIterator in value;
}
