import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { keelson, type Logger, memoryDriver } from "keelson";
import ts from "typescript";
import { describe, expect, it, onTestFinished } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";

const guide = readFileSync(join(repositoryRoot, "docs/guides/logging.md"), "utf8");
const blocks = [...guide.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => match[1] as string);

/** A TypeScript block in a file of its own, where imports resolve as in this repository. */
function filesOf(texts: readonly string[]): string[] {
  const folder = mkdtempSync(join(repositoryRoot, ".cache", "guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return texts.map((text, i) => {
    const file = join(folder, `block-${i}.ts`);
    writeFileSync(file, text);
    return file;
  });
}

describe("docs/guides/logging.md", () => {
  it("has blocks that compile as they stand", () => {
    const config = ts.getParsedCommandLineOfConfigFile(join(repositoryRoot, "tsconfig.json"), {}, ts.sys as never);
    const program = ts.createProgram(filesOf(blocks), { ...config?.options, noEmit: true });
    expect(blocks).toHaveLength(2);
    expect(
      ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")),
    ).toEqual([]);
  }, 120_000);

  it("turns pino's arguments around, so that an app can log to it", async () => {
    const [file] = filesOf([blocks.find((block) => block.includes("fromPino")) as string]);
    const { fromPino } = (await import(pathToFileURL(file as string).href)) as {
      fromPino(pino: unknown): Logger;
    };
    const lines: unknown[] = [];
    /** Shaped like pino: methods that need their object, the fields first and the message second. */
    const pino = {
      lines,
      debug(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["debug", ...args]);
      },
      info(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["info", ...args]);
      },
      warn(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["warn", ...args]);
      },
      error(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["error", ...args]);
      },
    };
    const logger = fromPino(pino);
    for (const level of ["debug", "info", "warn", "error"] as const) logger[level](`a ${level}`, { level });
    logger.info("alone");
    expect(lines).toEqual([
      ["debug", { level: "debug" }, "a debug"],
      ["info", { level: "info" }, "a info"],
      ["warn", { level: "warn" }, "a warn"],
      ["error", { level: "error" }, "a error"],
      ["info", {}, "alone"],
    ]);
    const api = keelson({ entities: [], driver: memoryDriver(), logger });
    api.log.warn("from the app");
    expect(lines.at(-1)).toEqual(["warn", {}, "from the app"]);
    await api.close();
  });
});
