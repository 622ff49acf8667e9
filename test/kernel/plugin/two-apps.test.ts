import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { entity, keelson, memoryDriver, noopLogger, type Plugin, string } from "keelson";
import { audit } from "keelson/audit";
import { idempotency } from "keelson/idempotency";
import { createTokenSigner, jwtAuth } from "keelson/jwt";
import { rateLimit } from "keelson/rate-limit";
import { telemetry } from "keelson/telemetry";
import { describe, expect, it, onTestFinished } from "vitest";
import { childProgram } from "../../support/child-program.ts";
import { amount } from "../../support/suite.ts";

const tokens = { secret: "a secret of at least thirty-two bytes", issuer: "https://test.invalid", audience: "test" };
const note = entity("note", { text: string }).rules({ create: ["everyone"], read: ["everyone"] });
const makePlugins = (): readonly Plugin[] => [
  rateLimit({ policies: [{ name: "all", limit: 3, window: 60, by: "address" }] }),
  idempotency(),
  audit({ read: ["everyone"] }),
  jwtAuth(tokens),
  telemetry({ statements: true }),
];
const boot = (plugins: readonly Plugin[]) =>
  keelson({ entities: [note], driver: memoryDriver(), plugins, logger: noopLogger });
type App = ReturnType<typeof boot>;
const send = async (app: App, method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
  const sent = body && { body: JSON.stringify(body) };
  const init = { method, ...sent, headers: { "content-type": "application/json", ...headers } };
  return app.fetch(new Request(`http://test.invalid${path}`, init));
};

describe("two apps of one plugin list", () => {
  it("share no quota, key or audit entry", async () => {
    const plugins = makePlugins();
    const [one, two] = [boot(plugins), boot(plugins)];
    onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
    const token = await createTokenSigner(tokens)({ sub: "ann" });
    const keyed = { "idempotency-key": "the-same", authorization: `Bearer ${token}` };
    expect((await send(one, "POST", "/api/notes", { text: "one" }, keyed)).status).toBe(201);
    const other = await send(two, "POST", "/api/notes", { text: "two" }, keyed);
    expect([other.status, other.headers.get("idempotency-replayed")]).toEqual([201, null]);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await send(one, "GET", "/api/notes")).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await send(two, "GET", "/api/notes")).status).toBe(200);
    expect([await one.driver.count("auditEntry"), await two.driver.count("auditEntry")]).toEqual([1, 1]);
  });

  it("continue when the other is closed", async () => {
    const plugins = makePlugins();
    const [one, two] = [boot(plugins), boot(plugins)];
    onTestFinished(() => two.close());
    await Promise.all([one.ready, two.ready]);
    await one.close();
    expect((await send(two, "POST", "/api/notes", { text: "two" })).status).toBe(201);
  });
});

describe("many apps, one after the other", () => {
  it("leave no memory behind when they are closed", async () => {
    const script = await childProgram(new URL("boots.child.ts", import.meta.url));
    const times = amount(100, 1_000);
    // In a separate process, where nothing else is in memory.
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, String(times)]);
    expect(Number(stdout) / times).toBeLessThan(4_096); // bytes for each app
  });
});
