import { Reply } from "../../../kernel/index.ts";

/** An answer before the work is done: what the action declares as its output is not known yet. */
export class Accepted extends Reply {
  constructor(body: unknown, headers: Reply["headers"]) {
    super(202, body, headers);
  }
}
