import { isObject } from "../../entity/index.ts";
import { type FieldErrors, InternalError, ValidationFailedError } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { RecordChange } from "./record-change.ts";

/**
 * Checks a complete record before the change is committed, for changes from any surface. The record has no field mask:
 * passwords are hashes, encrypted fields are plain text.
 * @returns error messages by field, with `_` for the record as a whole; undefined when the record is valid
 */
export type RecordValidator = (
  record: Row,
  change: RecordChange,
) => FieldErrors | undefined | Promise<FieldErrors | undefined>;

/**
 * Runs a validator on changed records, inside the transaction of the change.
 * @param scope the scope that changes them; undefined for services of the whole app
 * @throws ValidationFailedError with messages at the fields that the caller may know about; all other messages are
 *   reported for the record as a whole
 * @throws InternalError when the validator returns anything but messages by field
 */
export async function checkChanges(
  { plugin, validate }: { readonly plugin: string; readonly validate: RecordValidator },
  changes: readonly RecordChange[],
  scope: OperationScope | undefined,
): Promise<void> {
  for (const change of changes) {
    if (change.after === null || (change.kind !== "create" && change.kind !== "update")) continue;
    const given: unknown = await validate(Object.freeze({ ...change.after }), change);
    if (given === undefined) continue;
    if (!isMessages(given))
      throw new InternalError(
        `A validator of plugin "${plugin}" returns undefined, or messages by field such as { title: "is taken" }`,
      );
    await scope?.access.maskReady(change.entity);
    const isKnown = (name: string): boolean => {
      if (scope === undefined || scope.principal.kind === "system") return true;
      const { readable, writable } = scope.access.mask(change.entity);
      return readable.has(name) || writable.has(name);
    };
    throw new ValidationFailedError(
      Object.entries(given).map(([name, message]) => ({
        path: name !== "_" && isKnown(name) ? [name] : [],
        code: "custom",
        message,
      })),
    );
  }
}

function isMessages(value: unknown): value is FieldErrors {
  if (!isObject(value)) return false;
  const messages = Object.values(value);
  return messages.length > 0 && messages.every((message) => typeof message === "string");
}
