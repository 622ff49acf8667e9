import { InternalError } from "../../../kernel/index.ts";

/** Nobody knows what became of a step: its process died while it ran. */
export class StepInterruptedError extends InternalError {}
