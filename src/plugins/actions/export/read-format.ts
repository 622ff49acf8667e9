import { BadRequestError, didYouMean, type Limits, readParameters, shownName } from "../../../kernel/index.ts";
import { csvFormat } from "./csv-format.ts";
import type { ExportFormat } from "./export-format.ts";
import { jsonFormat } from "./json-format.ts";
import { ndjsonFormat } from "./ndjson-format.ts";

/** By the name that requests ask for them by. */
export const FORMATS: ReadonlyMap<string, ExportFormat> = new Map([
  ["json", jsonFormat],
  ["csv", csvFormat],
  ["ndjson", ndjsonFormat],
]);

/**
 * Reads the parameter `format`. @default json
 * @throws BadRequestError for a format that does not exist, or more than one
 */
export function readFormat(search: string, { parameters }: Limits): ExportFormat {
  const [name = "", ...others] = readParameters(search, parameters).get("format") ?? [];
  if (others.length > 0) throw new BadRequestError('"format" is given more than once.');
  const format = FORMATS.get(name === "" ? "json" : name);
  if (format !== undefined) return format;
  const names = [...FORMATS.keys()];
  throw new BadRequestError(
    `There is no format "${shownName(name)}"; there are ${names.join(", ")}.${didYouMean(name, names)}`,
  );
}
