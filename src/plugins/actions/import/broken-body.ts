import { BadRequestError } from "../../../kernel/index.ts";

/** The body cannot be read any further. The message is the end of a sentence that begins with the row. */
export class BrokenBody extends BadRequestError {}

/** For a row that is larger than a body may be. */
export function rowTooLarge(limit: number): BrokenBody {
  return new BrokenBody(`is larger than ${limit} bytes`);
}
