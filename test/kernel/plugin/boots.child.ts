import { entity, keelson, memoryDriver, noopLogger, type Plugin, string } from "keelson";
import { audit } from "keelson/audit";
import { idempotency } from "keelson/idempotency";
import { jwtAuth } from "keelson/jwt";
import { rateLimit } from "keelson/rate-limit";
import { telemetry } from "keelson/telemetry";

// Starts and closes apps, and prints how many bytes each of them has left behind. Run with --expose-gc.

const [times = "100"] = process.argv.slice(2);
const note = entity("note", { text: string }).rules({ create: ["everyone"], read: ["everyone"] });
const plugins: readonly Plugin[] = [
  rateLimit({ policies: [{ name: "all", limit: 3, window: 60, by: "address" }] }),
  idempotency(),
  audit({ read: ["everyone"] }),
  jwtAuth({ secret: "a secret of at least thirty-two bytes", issuer: "https://test.invalid", audience: "test" }),
  telemetry({ statements: true }),
];

async function run(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const app = keelson({ entities: [note], driver: memoryDriver(), plugins, logger: noopLogger });
    const init = { method: "POST", body: '{"text":"one"}', headers: { "content-type": "application/json" } };
    const { status } = await app.fetch(new Request("http://test.invalid/api/notes", init));
    if (status !== 201) process.exit(2);
    await app.close();
  }
}

/** The live heap, after all garbage was collected, weak references included. */
async function heap(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    (globalThis as { gc?: () => void }).gc?.();
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}

await run(50);
const before = await heap();
await run(Number(times));
process.stdout.write(String((await heap()) - before));
