import { BadRequestError, NotStoredError } from "../../../kernel/index.ts";

/**
 * Remembers the first statement of a transaction that failed. What is wrong with a question is found before it is sent, and
 * a create whose condition does not hold has not failed.
 */
export class FirstFailure {
  /** Undefined as long as all went well. */
  error: unknown;

  async note<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      if (!(error instanceof BadRequestError || error instanceof NotStoredError)) this.error ??= error;
      throw error;
    }
  }
}
