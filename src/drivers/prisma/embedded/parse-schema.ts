import { ConfigurationError } from "../../../entity/index.ts";

type GetDmmf = typeof import("@prisma/get-dmmf");
/** Prisma's own description of a schema. */
export type Dmmf = Extract<ReturnType<GetDmmf["getInternalDMMF"]>, { readonly datamodel: unknown }>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal begin with one
const COLOURS = /\u001b\[[0-9;]*m/g;

/** The sentences of Prisma's report, without its drawings of the schema. */
function sentencesOf(error: Error): string[] {
  let report = error.message;
  try {
    report = (JSON.parse(error.message) as { readonly message: string }).message;
  } catch {
    // Not every failure is a report.
  }
  const lines = report.replace(COLOURS, "").split("\n");
  const sentences = lines.flatMap((line, index) => {
    const found = /^error: (?:Error (?:validating|parsing)[^:]*: )?(.*)$/.exec(line);
    if (found === null) return [];
    const source = lines
      .slice(index + 1)
      .find((later) => /^\s*\d+ \| \s*\S/.test(later) && !/^\s*\d+ \| *$/.test(later));
    return [
      `the entities make no valid Prisma schema (P1012): ${found[1]}${source ? ` at “${source.replace(/^\s*\d+ \|/, "").trim()}”` : ""}`,
    ];
  });
  return sentences.length > 0 ? sentences : ["the entities make no valid Prisma schema"];
}

/**
 * Reads a schema as Prisma does. The internal form: from the plain one the parameter graph has no roots for create and
 * update, and every such call would be compiled anew.
 * @throws ConfigurationError for whatever Prisma does not accept (P1012): reserved names, cycles it cannot delete
 */
export function parseSchema({ getInternalDMMF }: GetDmmf, schema: string): Dmmf {
  const parsed = getInternalDMMF({ datamodel: [["schema.prisma", schema]] });
  if ("error" in parsed) throw new ConfigurationError(sentencesOf(parsed.error));
  return parsed;
}
