import { InternalError } from "../../../kernel/index.ts";

/** The result of a step cannot be written down, so a process that continues the run would not know it. */
export class ResultNotKept extends InternalError {}
