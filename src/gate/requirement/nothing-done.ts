import { InternalError } from "../../kernel/index.ts";

/**
 * Ends an operation that leaves its record alone where that is no error (`when`, `ifFound`), and its transaction, if it
 * began one. Never leaves the gate. One object for all: its stack is not used, and is most of what an error costs.
 */
export const NOTHING_DONE: Error = new InternalError("Nothing was done");
