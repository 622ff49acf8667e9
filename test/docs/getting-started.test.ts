import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { builtKeelson, builtPackage } from "../cli/built-package.ts";
import { openProject, runWords, type TestProject } from "../cli/project.ts";
import { type StartedCommand, startCommand } from "../cli/start-process.ts";
import { type CurlExample, curlExamples, expectCurl } from "../support/curl.ts";
import { freshPostgres } from "../support/databases.ts";
import { openPage } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { amount } from "../support/suite.ts";

const start = openPage("getting-started");
const home = openPage("index");
afterAll(() => {
  start.remove();
  home.remove();
});

const runsEachStep = amount(false, true);

/** A block without the line that names it, as it is in a project. */
const block = (name: string): string => readFileSync(start.file(name), "utf8").replace(/^.*\n/, "");

/** The project that the page's first commands create. */
async function followFirstStep(): Promise<TestProject> {
  const words = /npx keelson (init .*)/.exec(start.text)?.[1]?.split(" ") as string[];
  const outer = await openProject({}, false);
  onTestFinished(() => outer.remove());
  const { out } = await outer.run(...words);
  expect(start.text).toContain(`\`\`\`text\n${out.split("\n")[0]}\n\`\`\``);
  const project = await openProject({}, false);
  onTestFinished(() => project.remove());
  // As after `npm install`.
  const inside = { ...project, folder: join(outer.folder, "todo") };
  await outer.write("todo/node_modules/.keep", "");
  for (const name of ["vitest", "typescript", "vite", "@types"])
    await symlink(join(repositoryRoot, "node_modules", name), join(inside.folder, "node_modules", name));
  await symlink(await builtPackage(), join(inside.folder, "node_modules/keelson"));
  return {
    ...inside,
    write: (path, text) => outer.write(`todo/${path}`, text),
    read: (path) => outer.read(`todo/${path}`),
    async run(...given) {
      const before = process.cwd();
      process.chdir(inside.folder);
      try {
        return await runWords(given);
      } finally {
        process.chdir(before);
      }
    },
  };
}

function runTests(folder: string, ...files: readonly string[]): string {
  const { NODE_ENV: _, VITEST: __, ...env } = process.env;
  const run = spawnSync(process.execPath, [join(repositoryRoot, "node_modules/vitest/vitest.mjs"), "run", ...files], {
    cwd: folder,
    encoding: "utf8",
    env: { ...env, NO_COLOR: "1" } as NodeJS.ProcessEnv,
  });
  return run.stdout + run.stderr;
}

/** Runs the page's curl lines in order; after the login, with its token. */
async function runCurls(examples: readonly CurlExample[], command: StartedCommand): Promise<void> {
  const [, host = ""] = await command.until(/http:\/\/(localhost:\d+)/);
  let token = "<token>";
  for (const example of examples) {
    const body = await expectCurl({ ...example, command: example.command.replace("<token>", token) }, host);
    token = (JSON.parse(body) as { token?: string }).token ?? token;
  }
  expect(token).not.toBe("<token>");
}

describe("docs/getting-started.md", () => {
  it("leads from an empty folder to a changed rule with a test", { timeout: 300_000 }, async () => {
    const project = await followFirstStep();
    for (const path of [
      "src/entities/task.ts",
      "src/entities/user.ts",
      "src/login.ts",
      "src/tokens.ts",
      "keelson.config.ts",
    ])
      expect(await project.read(path), path).toBe(block(path));

    const command = await startCommand(project.folder, ["dev", "--port=0"]);
    const examples = curlExamples(start.text);
    expect(examples).toHaveLength(7);
    await runCurls(examples, command);
    const banner = /```text\n(Keelson [\s\S]*?)```/.exec(start.text)?.[1] as string;
    for (const line of banner.trim().split("\n"))
      expect(command.said().replaceAll(/localhost:\d+/g, "localhost:3000")).toContain(line);

    const seen = command.said().length;
    await project.write("src/entities/task.ts", block("src/entities/task-2.ts"));
    await command.until(/tables were changed/, seen);
    await command.until(/Docs {2}/, seen);

    const access = /```text\n(WHAT [\s\S]*?)```/.exec(start.text)?.[1] as string;
    expect((await project.run("access")).out).toContain(access);
    await project.write("access.json", (await project.run("access", "--json")).out);
    expect((await project.run("access", "--diff=access.json")).code).toBe(0);

    const [before, after] = [...start.text.matchAll(/Tests {2}(\d+) passed \(\1\)/g)].map(([line]) => line);
    const countOf = (line = ""): number => Number(/\d+/.exec(line));
    expect(countOf(after)).toBe(countOf(before) + 1);
    // The last run has the tests of all; the long suite runs them after each step, as the page does.
    if (runsEachStep) expect(runTests(project.folder)).toContain(before);
    await project.write("test/shared.test.ts", block("test/shared.test.ts"));
    if (runsEachStep) expect(runTests(project.folder, "test/shared.test.ts")).toContain("Tests  1 passed (1)");
    command.child.kill("SIGINT");

    const { url, drop } = await freshPostgres();
    onTestFinished(drop);
    await project.write("keelson.config.ts", block("keelson.config-2.ts"));
    expect(runTests(project.folder)).toContain(after); // without a database
    const secrets = await project.read(".env");
    await project.write(".env", `${secrets}DATABASE_URL=${url}\n`);
    const onPostgres = await startCommand(project.folder, ["dev", "--port=0"]);
    await runCurls(examples.slice(0, 2), onPostgres); // sign up, log in
    const made = await startCommand(project.folder, ["migrate", "dev", "--name=start"]);
    const [recorded] = await made.until(/Recorded: .*/);
    expect(start.text).toContain(recorded.replace(/\d{14}/, "…"));
  });
});

describe("docs/index.md", () => {
  it("has a file that serves what its curl line gets", { timeout: 60_000 }, async () => {
    const tsx = createRequire(import.meta.url).resolve("tsx");
    const child = spawn(process.execPath, ["--import", tsx, home.file("app.ts")], {
      cwd: dirname(home.file("app.ts")),
      env: {
        ...process.env,
        ...(await builtKeelson()),
        NODE_ENV: "development",
        PORT: "0",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    try {
      const examples = curlExamples(home.text);
      expect(examples).toHaveLength(1);
      await expectCurl(examples[0] as CurlExample, await hostOf(child));
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });
});

/** Where a process says it listens. */
function hostOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk;
      const found = /Listening on http:\/\/(\S+)/.exec(said);
      if (found) resolve(found[1] as string);
    });
    child.on("exit", () => reject(new Error(said)));
  });
}
