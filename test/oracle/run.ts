/** `npm run oracle -- --steps 10000 --seed 1 --database memory`: starts the processes of a run (CONTRIBUTING.md). */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkOut } from "./check-out.ts";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    database: { type: "string", default: "memory" },
    only: { type: "string" },
    with: { type: "string" },
    against: { type: "string" },
    workers: { type: "string", default: "1" },
    findings: { type: "string", default: "1" },
    brief: { type: "boolean", default: false },
  },
});

const look = fileURLToPath(new URL("look.ts", import.meta.url));
const workers = Number(values.workers);
const source = values.against === undefined ? undefined : checkOut(values.against);
/** Seeds of processes are far apart, so that no two generate the same models. */
const FAR = 1_000_000;

function start(at: number): Promise<number> {
  const options = {
    steps: String(Math.ceil(Number(values.steps) / workers)),
    seed: String(Number(values.seed) + at * FAR),
    database: values.database,
    findings: values.findings,
    ...(values.only !== undefined && { only: values.only }),
    ...(values.with !== undefined && { with: values.with }),
  };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, ["--import", "tsx", look, ...given, ...(values.brief ? ["--brief"] : [])], {
    stdio: "inherit",
    env: { ...process.env, ...(source !== undefined && { ORACLE_SOURCE: source }) },
  });
  return new Promise((resolve) =>
    child.on("exit", (code, signal) => {
      if (code === null) process.stderr.write(`a process was ended by ${signal}\n`);
      resolve(code ?? 1);
    }),
  );
}

const codes = await Promise.all(Array.from({ length: workers }, (_, at) => start(at)));
process.exitCode = Math.max(...codes);
