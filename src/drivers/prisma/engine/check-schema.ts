import { createRequire } from "node:module";
import { ConfigurationError } from "../../../entity/index.ts";

/** The part of Prisma's parser that is used; it throws an Error whose message is a report. */
interface SchemaParser {
  validate(parameters: string): void;
}

/**
 * Loads the parser that get-dmmf brings. What get-dmmf makes of a schema takes seven times as long as reading it, and is
 * for generators.
 * @throws Error of Node when a package is not installed
 */
async function requireParser(): Promise<SchemaParser> {
  const ours = createRequire(import.meta.url);
  return createRequire(ours.resolve("@prisma/get-dmmf"))("@prisma/prisma-schema-wasm") as SchemaParser;
}

/** The package that reads schemas, and how it is loaded; see `loadPeers`. */
export const SCHEMA_PACKAGES = { "@prisma/get-dmmf": requireParser } as const;

/** Prisma's report, which comes as text inside the message of an error. */
function reportOf({ message }: Error): string {
  try {
    return (JSON.parse(message) as { readonly message: string }).message;
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
export function checkSchema(parser: SchemaParser, schema: string): void {
  try {
    parser.validate(JSON.stringify({ prismaSchema: [["schema.prisma", schema]], noColor: true }));
  } catch (error) {
    throw new ConfigurationError(sentencesOf(error as Error, schema));
  }
}
