import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { builtKeelson } from "../cli/built-package.ts";
import { amount } from "../support/suite.ts";

const built = await builtKeelson();

const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = await mkdtemp(join(tmpdir(), "keelson-start-"));
const running = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  running.clear();
});
afterAll(() => rm(directory, { recursive: true }));

/** `npm start`, with its own database and a free port. */
function start(name: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--import", "tsx", "examples/films/start.ts"], {
    cwd: root,
    env: {
      ...process.env,
      ...built,
      NODE_ENV: "development",
      PORT: "0",
      FILMS_FILE: join(directory, `${name}.db`),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  const ended = once(child, "close").then(([code]) => code as number | null);
  const heard = new Promise<void>((resolve) => child.once("close", resolve));
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  return {
    child,
    ended,
    output: () => output,
    async says(text: string): Promise<string> {
      const said = new Promise<void>((resolve) => {
        const check = (): void => void (output.includes(text) && resolve());
        listeners.add(check);
        check();
      });
      await Promise.race([said, heard]);
      if (!output.includes(text)) throw new Error(`The process ended without saying "${text}":\n${output}`);
      return output;
    },
  };
}

/** Runs a line as a reader would paste it. */
async function paste(line: string): Promise<{ status: number; body: unknown }> {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const init: { method?: string; body?: string; headers: Record<string, string> } = { headers: {} };
  let url = "";
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-X") init.method = words.shift() ?? "";
    else if (word === "-d") init.body = words.shift() ?? "";
    else if (word === "-H") {
      const [name = "", value = ""] = (words.shift() ?? "").split(": ");
      init.headers[name] = value;
    } else if (word.startsWith("http")) url = word;
  }
  const response = await fetch(url, init);
  return { status: response.status, body: await response.json() };
}

/** Lines of the output in the README; "…" matches anything, and so do the port and the file. */
async function promisedOutput(): Promise<RegExp[]> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const block = /^```text\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? "";
  const lines = block.split("\n").filter((line) => line.replaceAll("…", "").trim() !== "");
  if (lines.length < 10) throw new Error("The README shows no output");
  return lines.map((line) => {
    const parts = line.replace("localhost:3000", "localhost:…").replace(".keelson/films.db", "…").split("…");
    return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "m");
  });
}

const withToken = (line: string, token: string): string => line.replace(/Bearer [\w.-]+/, `Bearer ${token}`);
const curlLines = (output: string): string[] => output.match(/curl .*/g) ?? [];

describe("npm start", { timeout: 120_000 }, () => {
  // Imports in sequence take a while: the usual suite kills one at its beginning, which must end like the other.
  it.each(amount(["cut"], ["fresh", "cut"]))("imports, serves, and prints requests that work: %s", async (name) => {
    if (name === "cut") {
      const killed = start(name);
      await killed.says("20 %");
      killed.child.kill("SIGKILL");
      await killed.ended;
    }
    const app = start(name);
    const output = await app.says("Ctrl-C");
    expect(output).toMatch(/Imported 3,200 of 3,201 rows in [\d.]+ s: 51 repaired, 1 rejected\./);
    for (const line of await promisedOutput()) expect(output).toMatch(line);
    const [list = "", login = "", review = "", forbidden = "", ...more] = curlLines(output);
    expect(more).toEqual([]);
    const url = /API +(\S+)/.exec(output)?.[1];
    expect((await fetch(`${url}/films?_limit=1`)).headers.get("x-total-count")).toBe("3200");
    expect(await paste(list)).toMatchObject({
      status: 200,
      body: [
        { title: "The Shawshank Redemption", director: { name: "Frank Darabont" }, reviews: [{}, {}] },
        {},
        {},
        {},
        {},
      ],
    });
    expect(await paste(review)).toMatchObject({
      status: 201,
      body: { authorId: "ada", stars: 5, note: "With Grace." },
    });
    expect(await paste(forbidden)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    const { status, body } = await paste(login);
    expect(status).toBe(200);
    const { token } = body as { token: string };
    expect(await paste(withToken(forbidden, token))).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    const admin = /Admin +(\S+)/.exec(output)?.[1] ?? "";
    expect(await paste(withToken(forbidden, admin))).toMatchObject({ status: 200 });

    const report = JSON.parse(await readFile(join(directory, `${name}-import-report.json`), "utf8"));
    expect(report.imported + report.rejected.length).toBe(3201);
    expect((await stat(join(directory, `${name}-secrets.json`))).mode & 0o777).toBe(0o600);

    app.child.kill("SIGINT");
    expect(await app.ended).toBe(0);

    const again = start(name);
    const secondOutput = await again.says("Ctrl-C");
    expect(secondOutput).not.toContain("Import");
    const [, secondLogin = "", secondReview = "", secondForbidden = ""] = curlLines(secondOutput);
    expect(await paste(secondLogin)).toMatchObject({ status: 200 });
    expect(await paste(secondReview)).toMatchObject({ status: 201 });
    expect(await paste(withToken(secondForbidden, admin))).toMatchObject({ status: 200 });
  });

  it("refuses a database whose secrets are missing", async () => {
    await writeFile(join(directory, "orphan.db"), "");
    const app = start("orphan");
    expect(await app.ended).toBe(1);
    expect(app.output()).toMatch(/The secrets of .*orphan\.db are not in .*; delete the database/);
  });

  it.each(["not json", '{"tokens":"t","encryption":"e","passwords":{"ada":"a"}}'])(
    "refuses secrets of another database: %s",
    async (text) => {
      await writeFile(join(directory, "strange-secrets.json"), text);
      const app = start("strange");
      expect(await app.ended).toBe(1);
      expect(app.output()).toMatch(/strange-secrets\.json does not hold the demo's secrets/);
    },
  );

  it("refuses to run in production, because its secrets are for a demo", async () => {
    const app = start("production", { NODE_ENV: "production" });
    expect(await app.ended).toBe(1);
    expect(app.output()).toMatch(/secrets are not for production/);
    expect(app.output()).not.toMatch(/ at .*\.ts/);
  });

  it("names the variable to set when the port is taken", async () => {
    const other = createServer().listen(0);
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const app = start("taken", { PORT: String(port) });
    expect(await app.ended).toBe(1);
    expect(app.output()).toContain(`Port ${port} is taken. Choose another one: PORT=${port + 1} npm start`);
    other.close();
  });

  it("refuses a port that is not valid", async () => {
    const app = start("none", { PORT: "many" });
    expect(await app.ended).toBe(1);
    expect(app.output()).toContain('PORT is "many"');
  });
});
