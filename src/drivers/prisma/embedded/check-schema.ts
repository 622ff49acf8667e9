import { ConfigurationError } from "../../../entity/index.ts";

type GetDmmf = typeof import("@prisma/get-dmmf");

/** The package that reads schemas, and how it is imported; see `loadPeers`. */
export const SCHEMA_PACKAGES = { "@prisma/get-dmmf": () => import("@prisma/get-dmmf") } as const;

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
 * Reads a schema as Prisma does.
 * @throws ConfigurationError for whatever Prisma does not accept (P1012): reserved names, cycles it cannot delete
 */
export function checkSchema({ getInternalDMMF }: GetDmmf, schema: string): void {
  const parsed = getInternalDMMF({ datamodel: [["schema.prisma", schema]] });
  if ("error" in parsed) throw new ConfigurationError(sentencesOf(parsed.error, schema));
}
