import { InternalError } from "../../../kernel/index.ts";

/** What a step gave cannot be written down: nobody who goes on with the run would know it. */
export class ResultNotKept extends InternalError {}
