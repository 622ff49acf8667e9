import { join } from "node:path";
import ts from "typescript";
import { repositoryRoot } from "./source-files.ts";

interface CompileOptions {
  /** Whether all files of this repository are looked at, too. @default false: what is imported is read, and not judged */
  readonly withRepository?: boolean;
}

/** What the compiler has against files, a sentence each, with the settings of this repository. */
export function compileProblems(files: readonly string[], { withRepository = false }: CompileOptions = {}): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(join(repositoryRoot, "tsconfig.json"), {}, ts.sys as never);
  const judged = withRepository ? [...files, ...(config?.fileNames ?? [])] : files;
  const program = ts.createProgram(judged, { ...config?.options, noEmit: true });
  const problems = judged.flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
  return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...problems].map(
    ({ file, start, messageText }) => {
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    },
  );
}
