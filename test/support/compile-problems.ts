import { join } from "node:path";
import ts from "typescript";
import { repositoryRoot } from "./source-files.ts";

/** What the compiler has against files, a sentence each, with the settings of this repository. */
export function compileProblems(files: readonly string[]): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(join(repositoryRoot, "tsconfig.json"), {}, ts.sys as never);
  const program = ts.createProgram(files, { ...config?.options, noEmit: true });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}
