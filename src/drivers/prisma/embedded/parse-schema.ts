import { ConfigurationError } from "../../../entity/index.ts";

type GetDmmf = typeof import("@prisma/get-dmmf");
/** Prisma's own description of a schema. */
export type Dmmf = Extract<ReturnType<GetDmmf["getInternalDMMF"]>, { readonly datamodel: unknown }>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal begin with one
const COLOURS = /\u001b\[[0-9;]*m/g;

/** Prisma's report, which comes as text inside the message of an error. */
function reportOf({ message }: Error): string {
  try {
    return (JSON.parse(message) as { readonly message: string }).message.replace(COLOURS, "");
  } catch {
    return message;
  }
}

/** One sentence per problem of the report, with the line of the schema that it is about. */
function sentencesOf(error: Error, schema: string): string[] {
  const lines = schema.split("\n");
  const problems = reportOf(error).matchAll(/^error: (?:Error (?:validating|parsing)[^:]*: )?(.*)\n.*:(\d+)$/gm);
  const sentences = [...problems].map(
    ([, problem, line]) => `Prisma refuses “${lines[Number(line) - 1]?.trim()}” (P1012): ${problem}`,
  );
  return sentences.length > 0 ? [...new Set(sentences)] : ["Prisma refuses the schema of the entities (P1012)"];
}

/**
 * Reads a schema as Prisma does. The internal form: from the plain one the parameter graph has no roots for create and
 * update, and every such call would be compiled anew.
 * @throws ConfigurationError for whatever Prisma does not accept (P1012): reserved names, cycles it cannot delete
 */
export function parseSchema({ getInternalDMMF }: GetDmmf, schema: string): Dmmf {
  const parsed = getInternalDMMF({ datamodel: [["schema.prisma", schema]] });
  if ("error" in parsed) throw new ConfigurationError(sentencesOf(parsed.error, schema));
  return parsed;
}
