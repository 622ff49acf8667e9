import type { FieldDefinition } from "../../entity/index.ts";

/** Reads values of some fields, and completes them with defaults and nulls. */
export interface FieldReader {
  /** @throws ValidationFailedError, BadRequestError for what is no object */
  fromObject(value: unknown): Record<string, unknown>;
  /**
   * @param search raw query string without `?`
   * @param limit parameters at most
   * @throws BadRequestError
   */
  fromQuery(search: string, limit: number): Record<string, unknown>;
}

/** The service `validation.fields`: fields outside entities, checked as those of records are. */
export interface FieldChecks {
  /** @param fields by name */
  compile(fields: Readonly<Record<string, FieldDefinition>>): FieldReader;
}
