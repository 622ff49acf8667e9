import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { repositoryRoot } from "./source-files.ts";

/** A page of docs/guides whose TypeScript blocks are files, where imports resolve as in this repository. */
export interface Guide {
  readonly text: string;
  readonly files: readonly string[];
  /** Runs the one block with this text in it. */
  load<T>(marker: string): Promise<T>;
  /** Deletes the files. */
  remove(): void;
}

/** @param name of the page, without folder and extension */
export function openGuide(name: string): Guide {
  const text = readFileSync(join(repositoryRoot, "docs/guides", `${name}.md`), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => match[1] as string);
  mkdirSync(join(repositoryRoot, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(repositoryRoot, ".cache", `${name}-`));
  const files = blocks.map((block, i) => {
    const file = join(folder, `block-${i}.ts`);
    writeFileSync(file, block);
    return file;
  });
  return {
    text,
    files,
    async load<T>(marker: string) {
      const found = files.filter((_, i) => blocks[i]?.includes(marker));
      if (found.length !== 1) throw new Error(`${found.length} blocks of ${name}.md have "${marker}"`);
      return (await import(pathToFileURL(found[0] as string).href)) as T;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What the compiler has against files, a sentence each. */
export function compileProblems(files: readonly string[]): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(join(repositoryRoot, "tsconfig.json"), {}, ts.sys as never);
  const program = ts.createProgram(files, { ...config?.options, noEmit: true });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
}
