import type { ColumnDefinition, FieldValidator } from "../../entity/index.ts";
import { newDefault, plainField } from "../../entity/index.ts";
import { isPromiseLike, type ValidationIssue } from "../../kernel/index.ts";

/** Checks a value that is there, and gives it as it is stored; problems are added to the list. */
export type ValueCheck = (value: unknown, issues: ValidationIssue[]) => unknown;

/** A column that input may fill. */
export interface InputColumn {
  readonly name: string;
  readonly optional: boolean;
  readonly check: ValueCheck;
  /** The value of a create that does not name the column; absent when there is no default. */
  readonly makeDefault: (() => unknown) | undefined;
}

/** Makes a column ready to be checked: its schema is built once, here. */
export function compileColumn(column: ColumnDefinition): InputColumn {
  const { name, optional, field } = column;
  const makeDefault = field?.default === undefined ? undefined : () => newDefault(field);
  return Object.freeze({ name, optional, check: compileCheck(column), makeDefault });
}

function compileCheck({ name, kind, field, role }: ColumnDefinition): ValueCheck {
  const isId = role === "id" || role === "foreignKey";
  const plain = isId ? { ...plainField(kind), min: { value: 1, message: "must not be empty" } } : plainField(kind);
  const schema = kind.schema(field ?? plain);
  const validators = field?.validators ?? [];
  return (value, issues) => {
    const result = schema.safeParse(value);
    if (!result.success) {
      for (const { path, code, message, params } of result.error.issues as readonly SchemaIssue[])
        issues.push({
          path: [name, ...(path as (string | number)[])],
          code: params?.code ?? code ?? "custom",
          message,
        });
      return undefined;
    }
    for (const validator of validators)
      if (!passes(validator, result.data)) issues.push({ path: [name], code: "custom", message: validator.message });
    return result.data;
  };
}

/** What is read of a zod issue; `params.code` is the code that Keelson's own checks give an issue. */
interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string | undefined;
  readonly message: string;
  readonly params?: { readonly code?: string | undefined } | undefined;
}

/** Strictly `true` passes; one that throws, or answers with a promise, has not passed (spec section 2.3). */
function passes(validator: FieldValidator, value: unknown): boolean {
  try {
    const answer = validator.test(value as never);
    if (isPromiseLike(answer)) answer.then(undefined, () => {}); // an unheard rejection would end the process
    return answer === true;
  } catch {
    return false;
  }
}
