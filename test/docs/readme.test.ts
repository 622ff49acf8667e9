import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtKeelson } from "../cli/built-package.ts";
import { curlExamples, expectCurl } from "../support/curl.ts";
import { openPage } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";

const built = await builtKeelson();

const page = openPage("../README");
const folder = dirname(page.files[0] as string);
const tsx = createRequire(import.meta.url).resolve("tsx");

afterAll(() => page.remove());

/** Runs a block from the repository's folder, like a reader, but with its data elsewhere. */
function run(file: string, env: Record<string, string> = {}) {
  return spawn(process.execPath, ["--import", tsx, file], {
    cwd: folder,
    env: { ...process.env, ...built, NODE_ENV: "development", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

describe("README.md", () => {
  it.each(page.files.slice(1).map((file, i) => [i + 1, file] as const))(
    "runs block %i to its end",
    async (_index, file) => {
      const child = run(file);
      let output = "";
      child.stderr.on("data", (chunk: Buffer) => (output += chunk));
      const code = await new Promise((resolve) => child.on("exit", resolve));
      expect([code, output]).toEqual([0, ""]);
    },
  );

  it("shows the real responses to its curl lines", async () => {
    const child = run(page.file("app.ts"), { PORT: "0" });
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let seen = "";
        for (const stream of [child.stdout, child.stderr])
          stream.on("data", (chunk: Buffer) => {
            seen += chunk;
            const found = /Listening on (\S+)/.exec(seen);
            if (found) resolve(found[1] as string);
          });
        child.on("exit", () => reject(new Error(seen)));
      });
      const examples = curlExamples(page.text);
      expect(examples).toHaveLength(4);
      for (const example of examples) await expectCurl(example, new URL(url).host);
    } finally {
      child.kill("SIGTERM");
      await new Promise((resolve) => child.on("exit", resolve));
    }
  });

  it("names existing scripts", () => {
    const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(page.text.match(/npm (?:run )?(?:start|test)/g)?.length).toBeGreaterThan(1);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["start", "test", "check", "bench"]));
  });
});
