import { InternalError } from "../../../kernel/index.ts";

/** The outcome of a step is unknown: its process died while it ran. */
export class StepInterruptedError extends InternalError {}
