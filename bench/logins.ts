// A burst of logins: does it stall the process, and does what is too much get told so?
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { serve } from "../src/adapters/node/index.ts";
import {
  createPlugin,
  email,
  endpoint,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  type PasswordHasher,
  string,
} from "../src/index.ts";

const PASSWORD = "correct horse battery staple";
const BURST = 100;
const COST = 10;

const user = entity("user", { email: email.unique(), password: string.password({ cost: COST }) }).rules({
  create: ["everyone"],
});

const login = createPlugin({
  id: "login",
  requires: ["field-security"],
  endpoints: {
    login: endpoint("/login", {
      method: "POST",
      rules: ["everyone"],
      async handler({ body, scope }) {
        const given = (await body()) as { email: string; password: string };
        const found = await scope.driver.findOne("user", { email: given.email });
        const passwords = scope.services.resolve<PasswordHasher>("field-security.passwords");
        return { ok: await passwords.verify(given.password, found?.password as string | undefined, { cost: COST }) };
      },
    }),
  },
});

// In a thread of its own, so that asking does not delay who is asked.
const asker = `
const { parentPort, workerData: { url, burst, email, password } } = require("node:worker_threads");
const body = JSON.stringify({ email, password });
const headers = { "content-type": "application/json" };
let running = true;
const alive = [];
(async () => {
  const watching = (async () => {
    while (running) {
      const begun = performance.now();
      const { status } = await fetch(url + "/health/live");
      alive.push({ status, ms: performance.now() - begun });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const logins = await Promise.all(Array.from({ length: burst }, async () => {
    const reply = await fetch(url + "/login", { method: "POST", headers, body });
    return { status: reply.status, retryAfter: reply.headers.get("retry-after"), ok: (await reply.json()).ok };
  }));
  running = false;
  await watching;
  parentPort.postMessage({ logins, alive });
})();
`;

interface Answers {
  readonly logins: readonly { status: number; retryAfter: string | null; ok?: boolean }[];
  readonly alive: readonly { status: number; ms: number }[];
}

async function run(): Promise<void> {
  const api = keelson({ entities: [user], driver: memoryDriver(), plugins: [login], logger: noopLogger });
  const served = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false });
  const address = "ann@example.com";
  await api.asSystem().user.create({ email: address, password: PASSWORD });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const workerData = { url: served.url, burst: BURST, email: address, password: PASSWORD };
  const [{ logins, alive }] = (await once(new Worker(asker, { eval: true, workerData }), "message")) as [Answers];
  delay.disable();
  await served.close();
  const right = logins.filter(({ status, ok }) => status === 200 && ok === true).length;
  const refused = logins.filter(({ status, retryAfter }) => status === 503 && retryAfter !== null).length;
  const slowest = Math.max(...alive.map(({ ms }) => ms));
  const p99 = delay.percentile(99) / 1e6;
  process.stdout.write(
    [
      `${BURST} logins at once, PBKDF2 cost ${COST}: ${right} let in, ${refused} told to come back (503 with Retry-After)`,
      `event-loop delay p99 ${p99.toFixed(1)} ms, longest ${(delay.max / 1e6).toFixed(1)} ms`,
      `/health/live meanwhile: ${alive.length} asked, ${alive.filter(({ status }) => status === 200).length} answered, slowest ${slowest.toFixed(0)} ms`,
      "",
    ].join("\n"),
  );
  if (right + refused !== BURST || alive.some(({ status }) => status !== 200) || p99 >= 100) process.exitCode = 1;
}

await run();
