import { isKeelsonError, type KeelsonError } from "../../entity/index.ts";
import { holdBriefly, type Operation, type OperationInput } from "../../gate/index.ts";
import { ValidationFailedError } from "../../kernel/index.ts";

/** The place of a value in an input. */
export type Path = readonly (string | number)[];

/** Runs a nested operation; errors name their path, and so do fields that the caller may not write. */
export async function runNested(operation: Operation, path: Path, input: OperationInput): Promise<Operation> {
  try {
    await holdBriefly(operation.scope);
    const done = await operation.scope.run(input);
    for (const name of done.ignored) operation.ignored.push([...path, name].join("."));
    return done;
  } catch (error) {
    throw isKeelsonError(error) ? at(path, error) : error;
  }
}

/** The error with the path to what it is about. */
export function at(path: Path, error: KeelsonError): KeelsonError {
  if ("issues" in error) {
    const { issues } = error as ValidationFailedError;
    return new ValidationFailedError(
      issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })),
      error.message,
    );
  }
  if (error.status < 500) error.message = `${path.join(".")}: ${error.message}`;
  return error;
}
