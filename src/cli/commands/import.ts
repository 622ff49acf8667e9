import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../../entity/index.ts";
import { type ImportedFiles, printEntities } from "../import/print-entities.ts";
import { readDatabase } from "../import/read-database.ts";
import { readPrismaSchema } from "../import/read-prisma.ts";
import { defineCommand, JSON_ARGUMENT } from "../shell/command.ts";
import type { Output } from "../shell/output.ts";

/** `keelson import`: writes the entities of an existing database. */
export const importCommand = defineCommand({
  description: "Write the entities of an existing database. Reads its catalogue, and changes nothing in it",
  examples: [
    "import postgresql://localhost/shop",
    "import file:./shop.db --out=src/entities",
    "import --prisma=prisma/schema.prisma",
    "import postgresql://localhost/shop --schemas=sales,stock --overwrite",
  ],
  args: {
    ...JSON_ARGUMENT,
    url: { type: "positional", required: false, description: "The database. Default: DATABASE_URL" },
    prisma: { type: "string", description: "A Prisma schema in place of a database", valueHint: "path" },
    schemas: { type: "string", description: "Schemas of PostgreSQL, separated by commas. Default: the connection's" },
    out: { type: "string", description: "The folder of the entities", default: "src/entities", valueHint: "path" },
    overwrite: { type: "boolean", description: "Write files that are there and differ, too" },
  },
  async run({ args, output }) {
    const schemas = args.schemas?.split(",").map((name) => name.trim());
    const database =
      args.prisma === undefined
        ? await readDatabase(addressOf(args.url), { schemas })
        : await readPrismaSchema(await readFile(args.prisma, "utf8"));
    const printed = printEntities(database);
    const changes = await compare(printed, args.out);
    const isFirst = changes.every(({ state }) => state === "new");
    const isWritten = isFirst || args.overwrite === true;
    if (isWritten) await write(printed, args.out);
    if (args.json) {
      const { missing, counts } = printed;
      output.json({ written: isWritten, files: changes.map(({ name, state }) => ({ name, state })), counts, missing });
    } else report(output, printed, changes, { out: args.out, isWritten });
    return isWritten || changes.every(({ state }) => state === "same") ? 0 : 1;
  },
});

function addressOf(given: string | undefined): string {
  const url = given ?? process.env.DATABASE_URL;
  if (url === undefined || url === "")
    throw new ConfigurationError(
      "keelson import takes the address of a database, or reads DATABASE_URL, or --prisma=<schema>",
    );
  return url;
}

/** A generated file, compared with the existing one. */
interface Change {
  readonly name: string;
  readonly state: "new" | "same" | "changed" | "gone";
  /** The differing lines, with a sign for each. */
  readonly lines: readonly string[];
}

async function compare({ files }: ImportedFiles, folder: string): Promise<readonly Change[]> {
  const there = await readdir(folder).catch((): string[] => []);
  const changes: Change[] = [];
  for (const [name, text] of files) {
    const before = there.includes(name) ? await readFile(join(folder, name), "utf8") : undefined;
    const state = before === undefined ? "new" : before === text ? "same" : "changed";
    changes.push({ name, state, lines: state === "changed" ? differing(before as string, text) : [] });
  }
  const isOurs = (text: string): boolean => /= entity\(".*", \{$/m.test(text) && /\.(existing|readOnly)\(\)/.test(text);
  for (const name of there.filter((one) => one.endsWith(".ts") && !files.has(one)))
    if (isOurs(await readFile(join(folder, name), "utf8"))) changes.push({ name, state: "gone", lines: [] });
  return changes;
}

/** The lines that only one of the two texts has. */
function differing(before: string, after: string): string[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !next.includes(line)).map((line) => `- ${line}`),
    ...next.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
}

async function write({ files }: ImportedFiles, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
}

function report(
  output: Output,
  { counts, missing }: ImportedFiles,
  changes: readonly Change[],
  { out, isWritten }: { readonly out: string; readonly isWritten: boolean },
): void {
  for (const { name, state, lines } of changes) {
    if (state === "same" || (state === "new" && isWritten)) continue;
    output.line(`${state === "gone" ? "no longer in the database" : state}: ${out}/${name}`);
    for (const line of lines) output.line(`    ${line}`);
  }
  output.table({
    headings: ["", "in the database", "in the entities"],
    rows: Object.entries(counts).map(([what, { found, said }]) => [what, String(found), String(said)]),
  });
  if (missing.length > 0) output.line("\nLeft to the database:");
  for (const sentence of missing) output.line(`  ${sentence}`);
  if (isWritten) {
    const there = changes.filter(({ state }) => state !== "gone").length;
    output.line(`\nWritten: ${out} (${there} files). Say who may do what in .rules(), then start the app.`);
  } else if (changes.every(({ state }) => state === "same"))
    output.line(`\nNothing differs: ${out} fits the database.`);
  else
    output.line(
      "\nNothing was written. Write the differences with --overwrite; what you have added to these files, such as rules, is then gone.",
    );
}
