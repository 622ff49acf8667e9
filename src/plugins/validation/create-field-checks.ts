import type { FieldDefinition } from "../../entity/index.ts";
import type { FieldChecks, FieldReader } from "../../gate/index.ts";
import {
  BadRequestError,
  nearest,
  readParameters,
  shownName,
  ValidationFailedError,
  type ValidationIssue,
} from "../../kernel/index.ts";
import { compileColumn, type InputColumn } from "./check-value.ts";
import { checkComplete } from "./check-values.ts";

/** A body full of nonsense is not worth a report on every key. */
const MAX_UNKNOWN = 20;

/** What other plugins check values with. */
export const fieldChecks: FieldChecks = Object.freeze({ compile: compileFields });

function compileFields(fields: Readonly<Record<string, FieldDefinition>>): FieldReader {
  const columns = new Map<string, InputColumn>(
    Object.entries(fields).map(([name, field]) => {
      const { kind, optional, unique } = field;
      return [name, compileColumn({ name, kind, role: "field", optional, unique, field })];
    }),
  );
  return Object.freeze<FieldReader>({
    fromObject(value) {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new BadRequestError("The body must be one JSON object");
      const issues: ValidationIssue[] = [];
      const values: Record<string, unknown> = {};
      for (const [name, given] of Object.entries(value)) {
        if (columns.has(name)) values[name] = given;
        else if (issues.length < MAX_UNKNOWN) issues.push(unknownKey(name, columns));
      }
      checkComplete(columns, values, issues);
      if (issues.length > 0) throw new ValidationFailedError(issues);
      return values;
    },
    fromQuery(search, limit) {
      const values: Record<string, unknown> = {};
      const issues: ValidationIssue[] = [];
      for (const [name, texts] of readParameters(search, limit)) {
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (name === "_") continue; // a cache buster
        const [text] = texts;
        if (field === undefined) {
          if (issues.length < MAX_UNKNOWN) issues.push(queryIssue(name, unknownName(name, columns)));
        } else if (texts.length > 1) issues.push(queryIssue(name, "is given more than once"));
        else if (text !== undefined) {
          const read = field.kind.parse(text);
          if (read.ok) values[name] = read.value;
          else issues.push(queryIssue(name, read.message));
        }
      }
      if (issues.length === 0) checkComplete(columns, values, issues);
      if (issues.length === 0) return values;
      const sentences = issues.map(({ path, message }) => `"${path[0]}" ${message}${message.endsWith("?") ? "" : "."}`);
      throw new BadRequestError(sentences.join(" "));
    },
  });
}

function queryIssue(name: string, message: string): ValidationIssue {
  return { path: [shownName(name)], code: "custom", message };
}

function unknownKey(name: string, columns: ReadonlyMap<string, unknown>): ValidationIssue {
  return { path: [shownName(name)], code: "unrecognized_keys", message: unknownName(name, columns) };
}

function unknownName(name: string, columns: ReadonlyMap<string, unknown>): string {
  const near = nearest(name, columns.keys());
  return `is not known here${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
