import type { CrossFieldContext, CrossFieldValidator } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import type { Logger } from "../../kernel/index.ts";

/** Whether a record passes a predicate: strictly `true`, at once or as a promise. One that throws has failed, and is logged. */
export async function passesCrossField(
  { test, message }: Pick<CrossFieldValidator, "test" | "message">,
  record: Row,
  context: CrossFieldContext,
  { log, entity }: { readonly log: Logger; readonly entity: string | undefined },
): Promise<boolean> {
  try {
    return (await test(record as never, context)) === true;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    log.warn("A validator threw, which counts as failed", {
      entity,
      operation: context.operation,
      validator: message,
      error: name,
    });
    return false;
  }
}
