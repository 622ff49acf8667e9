import { isKeelsonError, KeelsonError } from "../../../entity/index.ts";
import { handleError } from "../../../kernel/index.ts";

/** An error as a journal keeps it: of an error that is not Keelson's only the name, since its message may quote anything. */
export function errorText(error: Error): string {
  if (!isKeelsonError(error)) return JSON.stringify({ name: error.name });
  const { code, status, message } = error;
  return JSON.stringify({ code, status, message });
}

/** What a stranger may know of it: what an answer would have said. */
export function publicError(text: string | null | undefined): { readonly code: string; readonly message: string } {
  const { code, message } = handleError(errorOf(text)).body;
  return { code: String(code), message: String(message) };
}

/** The error of a text, as far as it is known. */
export function errorOf(text: string | null | undefined): KeelsonError {
  const { name, code, status, message } = JSON.parse(text ?? "{}") as Record<string, string | number | undefined>;
  if (typeof code === "string" && typeof status === "number") return new KeelsonError(code, status, String(message));
  return new KeelsonError("INTERNAL", 500, `A step failed with ${String(name ?? "an error")}`);
}
