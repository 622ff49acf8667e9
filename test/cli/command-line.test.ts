import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "citty";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS, type CommandTree } from "../../src/cli/command-tree.ts";
import { checkArguments, findCommand } from "../../src/cli/run-cli.ts";
import { processTerminal } from "../../src/cli/shell/output.ts";
import { packageManifest } from "../../src/cli/shell/package-root.ts";
import { builtPackage } from "./built-package.ts";
import { openProject, runWords, type TestProject } from "./project.ts";

/** Every command with its arguments. */
function leaves(tree: CommandTree, path: readonly string[] = []): (readonly string[])[] {
  return Object.entries(tree).flatMap(([name, entry]) =>
    "load" in entry ? [[...path, name]] : leaves(entry.entries, [...path, name]),
  );
}
const commands = leaves(COMMANDS);

describe("keelson", () => {
  it("lists every command for --help, and needs one", async () => {
    const { code, out } = await runWords(["--help"]);
    expect(code).toBe(0);
    for (const name of Object.keys(COMMANDS)) expect(out).toMatch(new RegExp(`^ {2}${name} +\\w`, "m"));
    expect(await runWords([])).toMatchObject({ code: 2, out });
    expect((await runWords(["migrate", "--help"])).out).toContain("deploy");
  });

  it("prints its version", async () => {
    expect(await runWords(["--version"])).toEqual({ code: 0, out: `${packageManifest().version}\n`, err: "" });
  });

  it("suggests a similar command, and exits with 2", async () => {
    const { code, out, err } = await runWords(["rotues"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain('There is no command "keelson rotues". Did you mean "routes"?');
    expect((await runWords(["db", "psuh"])).err).toContain('"keelson db psuh". Did you mean "push"?');
    expect((await runWords(["--hepl"])).err).toContain('There is no option "--hepl"');
    expect((await runWords(["constructor"])).code).toBe(2);
  });

  it.each([
    [["lint", "--jsn"], 'There is no option "--jsn". Did you mean "--json"?'],
    [["db", "push", "--acept-data-loss"], 'Did you mean "--accept-data-loss"?'],
    [["routes", "--config"], '"--config" needs a value: --config=<path>'],
    [["routes", "--config="], '"--config" needs a value'],
    [["routes", "--config", "--json"], '"--config" needs a value'],
    [["db", "push", "--accept-data-loss=no"], '"--accept-data-loss" takes no value; leave out "=no"'],
    [["db", "push", "--no-accept-data-loss=false"], '"--no-accept-data-loss" takes no value'],
    [["init", "a", "b"], '"b" is one argument too many'],
    [["init", "--host=expres"], '"--host" is one of node, express, hono, next, not "expres". Did you mean "express"?'],
    [["keys", "remove"], "It needs <id>"],
    [["migrate", "dev"], "It needs --name=<name>"],
  ])("refuses %j with the reason, and exits with 2", async (words, sentence) => {
    const { code, out, err } = await runWords(words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(sentence);
    expect(err).toContain("--help");
  });

  it.each(commands.map((path) => [path.join(" "), path] as const))(
    "explains %s with examples that it accepts",
    async (name, path) => {
      const { code, out, err } = await runWords([...path, "--help"]);
      expect([code, err]).toEqual([0, ""]);
      expect(out).not.toContain("\u001B");
      const found = findCommand(path);
      if (!("entry" in found)) throw new Error(`${name} is no command`);
      const { examples, args } = await found.entry.load();
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        expect(out).toContain(`  keelson ${example}`);
        const words = example.replace(/ +(#|>).*$/, "").split(" ");
        const called = findCommand(words);
        expect(called.path).toEqual(path);
        expect(await checkArguments("rest" in called ? called.rest : [], args)).toBeUndefined();
      }
    },
  );

  it("writes human-readable output only to a terminal, and colours only if wanted", () => {
    const stream = (isTTY: boolean) => ({ isTTY }) as NodeJS.WriteStream;
    const terminal = (isTTY: boolean, env: NodeJS.ProcessEnv) =>
      processTerminal({ ...process, stdin: { isTTY }, stdout: stream(isTTY), stderr: stream(isTTY), env } as never);
    const of = ({ interactive, colors }: ReturnType<typeof processTerminal>) => ({ interactive, colors });
    expect(of(terminal(true, {} as never))).toEqual({ interactive: true, colors: true });
    expect(of(terminal(true, { NO_COLOR: "1" } as never))).toEqual({ interactive: true, colors: false });
    expect(of(terminal(true, { CI: "true" } as never))).toEqual({ interactive: false, colors: true });
    expect(of(terminal(false, {} as never))).toEqual({ interactive: false, colors: false });
  });
});

describe("a flag", () => {
  it("may be given as true and false", async () => {
    const { args } = (await import("../../src/cli/commands/db.ts")).dbPush;
    expect(await checkArguments(["--accept-data-loss=false", "--json=true"], args)).toBeUndefined();
    expect(parseArgs(["--accept-data-loss=false", "--json=true"], args)).toMatchObject({
      "accept-data-loss": false,
      json: true,
    });
  });
});

describe("the library", () => {
  it("loads nothing of the command, nor of the command's dependencies", async () => {
    const dist = join(await builtPackage(), "dist");
    /** Files that an entry loads at once, and packages they import. */
    function loaded(file: string, seen = new Set<string>()): Set<string> {
      if (seen.has(file)) return seen;
      seen.add(file);
      const text = readFileSync(join(dist, file), "utf8");
      for (const [, specifier = ""] of text.matchAll(/(?:^|;)(?:import|export)\b[^;"'()]*["']([^"']+)["'](?=;|$)/gm)) {
        if (specifier.startsWith("./")) loaded(specifier.slice(2), seen);
        else seen.add(specifier);
      }
      return seen;
    }
    /** Whether one of these files contains zod, which is bundled. */
    const holdsZod = (files: readonly string[]): boolean =>
      files.some((file) => file.endsWith(".js") && readFileSync(join(dist, file), "utf8").includes("$ZodType"));
    const command = [...loaded("cli.js")];
    expect(command).toContain("citty");
    // Help starts quickly, because it does not load the library.
    expect(holdsZod(command)).toBe(false);
    expect(command.filter((name) => /^(jiti|@clack\/)/.test(name))).toEqual([]);
    for (const entry of ["index.js", "node.js", "testing.js"]) {
      const all = [...loaded(entry)];
      expect(holdsZod(all)).toBe(true);
      expect(all.filter((name) => /^(citty|jiti|@clack\/|cli\.js)/.test(name))).toEqual([]);
    }
  });
});

describe("a command that fails", () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await openProject({
      "keelson.config.ts": `
        import { defineConfig } from "keelson";
        export default defineConfig({ entities: [], plugins: () => { throw new RangeError("of a stranger"); } });
      `,
    });
  });
  afterAll(() => project.remove());

  it("repeats no message of other code, unless in debug mode", async () => {
    const { code, err } = await project.run("routes");
    expect(code).toBe(1);
    expect(err).toContain("unexpectedly (RangeError). KEELSON_DEBUG=1 shows where.");
    expect(err).not.toContain("of a stranger");
    process.env.KEELSON_DEBUG = "1";
    const debugged = await project.run("routes").finally(() => delete process.env.KEELSON_DEBUG);
    expect(debugged.err).toContain("of a stranger");
  });
});
