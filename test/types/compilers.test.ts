import { dirname, join } from "node:path";
import ts from "typescript-6";
import { expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";
import { amount, someOf } from "../support/suite.ts";

// TypeScript 7 checks the same files in each run of the tests. `npm run package` checks the packed declarations with
// 5.9, 6 and 7.
it("the types of the public surface compile with TypeScript 6", () => {
  expect(ts.version).toMatch(/^6\./);
  const project = join(repositoryRoot, "test/types/tsconfig.json");
  const { config } = ts.readConfigFile(project, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(project));
  const program = ts.createProgram(fileNames, options);
  // Some of the tests, and of the sources only the types that these use; the long suite checks every file.
  const files = amount(
    someOf(fileNames, 8).map((name) => program.getSourceFile(name)),
    [undefined],
  );
  expect(fileNames.length).toBeGreaterThan(15);
  const problems = [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...files.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ];
  const text = (found: ts.Diagnostic): string =>
    `${found.file?.fileName} ${ts.flattenDiagnosticMessageText(found.messageText, "\n")}`;
  expect(problems.map(text)).toEqual([]);
});
