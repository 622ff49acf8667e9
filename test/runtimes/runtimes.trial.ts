import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import type { OwnAnswers } from "../support/adapter-case.ts";
import { type StartHost, testAdapter } from "../support/adapter-contract.ts";
import { freshPostgres } from "../support/databases.ts";
import { whenListening } from "../support/example-process.ts";

// `npm run try:runtimes` runs this, with the package, the runtimes and the compiled fixtures in a folder.
const folder = process.env.RUNTIMES_FOLDER ?? "";
const BUN = join(folder, "node_modules/@oven/bun-linux-x64/bin/bun");
const DENO = join(folder, "node_modules/@deno/linux-x64-glibc/deno");
const NODE_22 = join(folder, "node_modules/node-22/bin/node");
const NODE_24 = join(folder, "node_modules/node-24/bin/node");
const WORKERD = join(folder, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");

const PLACES = { root: "/api", endpoints: "" };

/** A program that prints its URL, and ends at SIGTERM. */
const running =
  (program: string, ...args: string[]): StartHost =>
  async ({ slow } = {}) => {
    const env = { ...process.env, SLOW: slow ? "1" : "" };
    const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const { port, ended } = await whenListening(child);
    const close = async () => {
      child.kill();
      await ended;
    };
    return { port, ...PLACES, close };
  };

/** A worker; workerd reports its port on a separate channel. */
const worker: StartHost = async ({ slow } = {}) => {
  const config = join(folder, `worker-${slow === true}.capnp`);
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "bundled/worker.mjs")],
  bindings = [(name = "SLOW", text = "${slow ? "1" : ""}")],
  compatibilityDate = "2026-08-04",
);
`,
  );
  const args = ["serve", config, "--control-fd=3"];
  const child = spawn(WORKERD, args, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const ended = once(child, "exit");
  const [told] = await Promise.race([once(child.stdio[3] as Readable, "data"), ended]);
  const close = async () => {
    child.kill();
    await ended;
  };
  return { port: JSON.parse(String(told)).port, ...PLACES, close };
};

const HOSTLESS = { why: "the host makes a URL of it, which a path may not be part of", status: 404 };
const resolved = (status: number) => ({ why: "the host resolves dots and takes a backslash for a slash", status });
const BUN_OWN: OwnAnswers = {
  "a Response of fetch": { why: "Bun leaves out the type of a data: address", status: 200 },
  "a form with a file": { why: "Bun adds the charset to the type of a part", status: 200 },
};
const DENO_OWN: OwnAnswers = {
  "half a form": { why: "Deno takes a form that breaks off", status: 200 },
};
const EARLY = "the host closes the connection with the answer, while the client still writes";
const EARLY_CASES = {
  "a body of 20 MB, more than is on its way when the answer is known": EARLY,
  "a body of 20 MB by nobody": EARLY,
};

testAdapter("keelson/node on Node 22", running(NODE_22, "node.mjs"));
testAdapter("keelson/node on Node 24", running(NODE_24, "node.mjs"));
testAdapter("Bun.serve", running(BUN, "bun.mjs"), {
  // A short stream is sent at once, with its length.
  volatile: ["content-length", "transfer-encoding"],
  own: {
    ...BUN_OWN,
    "a Host that is no host": HOSTLESS,
    "GET …/films/./f1 is refused": resolved(200),
    "GET …/films\\f1 is refused": resolved(200),
    "GET …/films/../films is refused": resolved(200),
    "GET …/films/%2e%2e/films is refused": resolved(200),
    "GET …/films/%2e is refused": resolved(200),
    "GET …/../films is refused": resolved(404),
    "GET …/films/.. is refused": resolved(404),
    "GET …/films/.%2E is refused": resolved(404),
    "dots in what follows": resolved(200),
  },
  without: {
    ...EARLY_CASES,
    "a malformed request line: 400, and the connection is closed": "Bun answers 505",
  },
});
testAdapter("keelson/node on Bun", running(BUN, "node.mjs"), { own: BUN_OWN, without: EARLY_CASES });
testAdapter("Deno.serve", running(DENO, "run", "--allow-all", "deno.mjs"), {
  // HEAD of a stream has the length 0.
  volatile: ["content-length", "transfer-encoding"],
  own: { ...DENO_OWN, "a Host that is no host": HOSTLESS },
  without: {
    "a body longer than announced: the rest is no part of it, nor a request":
      "Deno waits for the end of the next request",
  },
});
testAdapter("keelson/node on Deno", running(DENO, "run", "--allow-all", "node.mjs"), { own: DENO_OWN });
testAdapter("workerd", worker, {
  own: { "a Host that is no host": HOSTLESS },
  without: {
    ...EARLY_CASES,
    "a client that goes away while it waits: the request's signal says so":
      "workerd ends the request and runs none of its code any more",
  },
  closesApp: false,
});

/** The result for a record with an encrypted field and a password, in any storage. */
const KEPT = {
  answer: [{ name: "Ada", born: "1815-12-10T00:00:00.000Z", likes: ["tea"], secret: "a secret" }],
  encrypted: true,
  password: true,
};

it.each([
  ["Node 22", NODE_22, []],
  ["Node 24", NODE_24, []],
  ["Bun", BUN, []],
  ["Deno", DENO, ["run", "--allow-all"]],
] as const)(
  "SQLite and PostgreSQL on %s store records, encrypted fields and passwords",
  async (_name, program, args) => {
    const { url, drop } = await freshPostgres();
    onTestFinished(drop);
    const env = { ...process.env, DATABASE_URL: url, FILE: join(folder, `${_name}-${process.pid}.db`) };
    const options = { cwd: join(folder, "databases"), env, encoding: "utf8", timeout: 60_000 } as const;
    const lines = execFileSync(program, [...args, "databases.mjs"], options)
      .trim()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([KEPT, KEPT]);
  },
);

it("workerd stores records in memory, with encrypted fields and passwords", async () => {
  const { port, close } = await worker();
  onTestFinished(close);
  expect(await (await fetch(`http://127.0.0.1:${port}/secrets`)).json()).toMatchObject(KEPT);
});
