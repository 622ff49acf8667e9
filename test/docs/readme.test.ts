import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openPage } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";

const page = openPage("../README");
const blocks = (language: string): string[] =>
  [...page.text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    (match) => match[1] as string,
  );
const folder = dirname(page.files[0] as string);
const tsx = createRequire(import.meta.url).resolve("tsx");

afterAll(() => page.remove());

/** Runs a block from the folder of the repository, where a reader would, but with its data elsewhere. */
function run(file: string, env: Record<string, string> = {}) {
  return spawn(process.execPath, ["--import", tsx, file], {
    cwd: folder,
    env: { ...process.env, TSX_TSCONFIG_PATH: join(repositoryRoot, "tsconfig.json"), NODE_ENV: "development", ...env },
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

  it("answers its curl lines as it says", async () => {
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
      const lines = blocks("sh").find((block) => block.includes("api/posts?title_like")) as string;
      const examples = [...lines.matchAll(/^(curl [\s\S]*?)\n# (\d{3}) (.*)$/gm)];
      expect(examples).toHaveLength(4);
      for (const [, command, status, answer] of examples as unknown as [string, string, string, string][]) {
        const { code, body } = await curl(command.replace(/localhost:3000/g, new URL(url).host));
        expect(code, command).toBe(Number(status));
        // "…" in the README stands for anything.
        const pattern = answer
          .split("…")
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
          .join("[\\s\\S]*");
        expect(body).toMatch(new RegExp(`^${pattern}$`));
      }
    } finally {
      child.kill("SIGTERM");
      await new Promise((resolve) => child.on("exit", resolve));
    }
  });

  it("names scripts that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(page.text.match(/npm (?:run )?(?:start|test)/g)?.length).toBeGreaterThan(1);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["start", "test", "check", "bench"]));
  });
});

/** What a shell would do with one of the README's commands: the parts it uses, and no others. */
async function curl(command: string): Promise<{ code: number; body: string }> {
  const words = [...command.replace(/\\\n/g, " ").matchAll(/'([^']*)'|(\S+)/g)].map(
    (match) => match[1] ?? (match[2] as string),
  );
  const headers = new Headers();
  let body: string | undefined;
  let address = "";
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as string;
    if (word === "-H") {
      const [name = "", value = ""] = (words[++i] as string).split(": ");
      headers.set(name, value);
    } else if (word === "-d") body = words[++i];
    else if (word !== "-s") address = word;
  }
  const response = await fetch(`http://${address}`, {
    method: body === undefined ? "GET" : "POST",
    headers,
    body: body ?? null,
  });
  return { code: response.status, body: await response.text() };
}
