import { isKeelsonError, type KeelsonError } from "../../entity/index.ts";
import type { OperationScope } from "../operations/scope.ts";
import { present, presentSettled } from "./serialize.ts";

/** What an error says of itself, as plain JSON data. */
export type ErrorContent = Readonly<Record<string, unknown>>;

/** What a Keelson error says, with every record in it masked for the caller; undefined for any other error. */
export async function presentError(error: unknown, scope: OperationScope): Promise<ErrorContent | undefined> {
  if (!isKeelsonError(error)) return undefined;
  try {
    const said = error.toJSON();
    // Most errors have nothing that a record could be in, and wait for no mask.
    const isFlat = Object.values(said).every((value) => typeof value !== "object");
    return written(isFlat ? said : await presentSettled(said, scope, true));
  } catch {
    return bare(error);
  }
}

/** The same where nobody knows who asks: records are left out. */
export function presentErrorToNobody(error: KeelsonError): ErrorContent {
  try {
    return written(present(error.toJSON(), undefined, true));
  } catch {
    return bare(error);
  }
}

/** @throws TypeError for what cannot be written as JSON: an error that fails to be told tells nothing */
function written(plain: unknown): ErrorContent {
  JSON.stringify(plain);
  return plain as ErrorContent;
}

function bare({ code, message, status }: KeelsonError): ErrorContent {
  return { code, message, status };
}
