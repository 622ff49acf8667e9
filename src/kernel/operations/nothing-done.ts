import { InternalError } from "../errors/errors.ts";

/**
 * Ends an operation that leaves its record alone where that is no error (`when`, `ifFound`), and its transaction, if it
 * began one. Never leaves the gate.
 */
export class NothingDone extends InternalError {}
