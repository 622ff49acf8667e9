import { join } from "node:path";
import ts from "typescript";
import { type Doors, generateSource } from "../../bench/types/generate.ts";
import { repositoryRoot } from "./source-files.ts";

/** The library and the sources, read once for all apps; they do not change during a run. */
const read = new Map<string, ts.SourceFile | undefined>();

/**
 * Type-checks only a generated app, and counts the generic types that the compiler instantiated.
 * @param count Number of entities
 * @param client Whether an HTTP client uses each entity too
 */
function instantiationsOf(count: number, client: boolean): number {
  const source = (path: string): string => join(repositoryRoot, "src", path);
  const doors: Doors = {
    entity: source("entity/index.ts"),
    keelson: source("keelson.ts"),
    client: client ? source("client/index.ts") : undefined,
  };
  const app = join(repositoryRoot, `generated-${count}.mts`);
  const text = generateSource(count, doors);
  const config = ts.getParsedCommandLineOfConfigFile(join(repositoryRoot, "tsconfig.json"), {}, ts.sys as never);
  const options = { ...config?.options, noEmit: true };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => path === app || fileExists(path);
  host.readFile = (path) => (path === app ? text : readFile(path));
  host.getSourceFile = (path, languageVersion, ...rest) => {
    if (path === app) return ts.createSourceFile(path, text, languageVersion, true);
    if (!read.has(path)) read.set(path, getSourceFile(path, languageVersion, ...rest));
    return read.get(path);
  };
  const program = ts.createProgram([app], options, host);
  const problems = program.getSemanticDiagnostics(program.getSourceFile(app));
  if (problems.length > 0)
    throw new Error(
      `the generated app does not compile: ${ts.flattenDiagnosticMessageText(problems[0]?.messageText, " ")}`,
    );
  return program.getInstantiationCount();
}

/** The instantiations of importing Keelson, without and with its client. */
const imports = new Map<boolean, number>();

/** The instantiations of an app's entities, minus those of importing Keelson. */
export function costOfEntities(count: number, { client = false } = {}): number {
  const anyway = imports.get(client) ?? instantiationsOf(0, client);
  imports.set(client, anyway);
  return instantiationsOf(count, client) - anyway;
}
