import { UnavailableError } from "../../../kernel/index.ts";

/**
 * The run goes on elsewhere, or later: its journal cannot be written, or belongs to another process by now. Not a failure of
 * a step: nothing is taken back.
 */
export class RunGivenUp extends UnavailableError {
  constructor(cause: unknown) {
    super("The workflow cannot go on now", { cause });
  }
}
