import { isKeelsonError } from "../../entity/index.ts";
import { bareContent, type ErrorContent, tellable } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { presentSettled } from "./serialize.ts";

/** What a Keelson error says, with every record in it masked for the caller; undefined for any other error. */
export async function presentError(error: unknown, scope: OperationScope): Promise<ErrorContent | undefined> {
  if (!isKeelsonError(error)) return undefined;
  try {
    const said = error.toJSON();
    // Most errors have nothing that a record could be in, and wait for no mask.
    const isFlat = Object.values(said).every((value) => typeof value !== "object");
    return tellable(isFlat ? said : await presentSettled(said, scope, true));
  } catch {
    return bareContent(error);
  }
}
