import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS, type CommandTree } from "../../src/cli/command-tree.ts";
import { LINT_RULES } from "../../src/cli/lint/lint-rules.ts";
import { checkArguments, findCommand } from "../../src/cli/run-cli.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
beforeAll(() => {
  guide = openPage("guides/cli");
});
afterAll(() => guide.remove());

function names(tree: CommandTree, path = ""): string[] {
  return Object.entries(tree).flatMap(([name, entry]) =>
    "load" in entry ? [path + name] : names(entry.entries, `${path}${name} `),
  );
}

/** First cells of the tables, without back-ticks and text in brackets. */
function firstCells(text: string): string[] {
  return [...text.matchAll(/^\| `([^`]*)`/gm)].map(([, cell]) => (cell as string).replace(/ [[<].*/, ""));
}

describe("docs/guides/cli.md", () => {
  it("lists every command and every rule of the linter, and no other", () => {
    expect(firstCells(guide.text).sort()).toEqual([...names(COMMANDS), ...LINT_RULES.map(({ id }) => id)].sort());
  });

  it("shows valid command lines", async () => {
    const lines = [...guide.text.matchAll(/^keelson (.+)$/gm)].map(([, line]) => (line as string).replace(/ >.*/, ""));
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) {
      const found = findCommand(line.split(" "));
      if (!("entry" in found)) throw new Error(`${line} is no command`);
      const { args } = await found.entry.load();
      expect([line, await checkArguments(found.rest, args)]).toEqual([line, undefined]);
    }
  });
});
