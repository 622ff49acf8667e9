import { afterEach, describe, expect, it } from "vitest";
import type { Row } from "../../../src/index.ts";
import type { RemoteJoinsOptions } from "../../../src/plugins/remote-joins/index.ts";
import type { TestApp } from "../../../src/testing/index.ts";
import { type Call, serviceOf, shop, titled } from "./shop.ts";

const RESET = 600;
const never = new Promise<never>(() => {});
const fail = (): never => {
  throw new TypeError("down");
};

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

interface Stage {
  readonly calls: readonly Call[];
  answer: (call: Call) => unknown;
  /** The reason why the subscription is null; null if it is present. */
  ask(): Promise<string | null>;
  readonly app: TestApp<never>;
}

function stage(options: RemoteJoinsOptions = {}): Stage {
  const own = { answer: fail as Stage["answer"] };
  const billing = serviceOf((call) => own.answer(call));
  const breaker = { failures: 3, resetAfter: RESET };
  const app = shop(billing, { count: 1, remoteJoins: { breaker, timeout: 10_000, ...options } });
  close = app.close;
  return Object.assign(own, {
    calls: billing.calls,
    app: app as unknown as TestApp<never>,
    async ask() {
      const { status, body, headers } = await app.as(null).request("GET", "/api/customers/c1?include=subscription");
      const header = headers.get("x-remote-errors");
      expect([status, (body as Row).subscription === null]).toEqual([200, header !== null]);
      return header?.replace("subscription;", "") ?? null;
    },
  });
}

async function afterReset(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, RESET + 20));
}

describe("the breaker of a service", () => {
  it("opens after several failures in a row, and stops calling the service", async () => {
    const shown = stage();
    const reasons = [];
    for (let i = 0; i < 5; i++) reasons.push(await shown.ask());
    expect(reasons).toEqual(["error", "error", "error", "unavailable", "unavailable"]);
    expect(shown.calls).toHaveLength(3);
  });

  it("resets its count on a success", async () => {
    const shown = stage();
    for (const answer of [fail, fail, ({ ids }: Call) => titled(ids), fail, fail]) {
      shown.answer = answer;
      await shown.ask();
    }
    expect(await shown.ask()).toBe("error");
  });

  it("allows one call after a while, and closes when it succeeds", async () => {
    const shown = stage();
    for (let i = 0; i < 3; i++) await shown.ask();
    shown.answer = ({ ids }) => titled(ids);
    expect(await shown.ask()).toBe("unavailable");
    await afterReset();
    expect([await shown.ask(), await shown.ask()]).toEqual([null, null]);
    expect(shown.calls).toHaveLength(5);
  });

  it("opens again when that fails", async () => {
    const shown = stage();
    for (let i = 0; i < 3; i++) await shown.ask();
    await afterReset();
    expect([await shown.ask(), await shown.ask()]).toEqual(["error", "unavailable"]);
  });

  it("makes all batches of the testing request wait for the first of them", async () => {
    let isDown = true;
    const billing = serviceOf(({ ids }) => (isDown ? fail() : titled(ids)));
    const breaker = { failures: 1, resetAfter: RESET };
    const app = shop(billing, { count: 3, remoteJoins: { breaker, batchSize: 1 } });
    close = app.close;
    const ask = async () => (await app.as(null).request("GET", "/api/customers?include=subscription")).headers;
    expect((await ask()).get("x-remote-errors")).toContain("subscription;error");
    isDown = false;
    await afterReset();
    expect((await ask()).get("x-remote-errors")).toBeNull();
  });

  it("makes no other request wait for the testing request", async () => {
    const shown = stage();
    for (let i = 0; i < 3; i++) await shown.ask();
    await afterReset();
    let release: (() => void) | undefined;
    shown.answer = ({ ids }) => new Promise((resolve) => (release = () => resolve(titled(ids))));
    const first = shown.ask();
    await expect.poll(() => release).toBeDefined();
    expect(await shown.ask()).toBe("unavailable");
    release?.();
    expect(await first).toBeNull();
  });

  it("counts timeouts, and responses that are not a list", async () => {
    const shown = stage({ timeout: 300 });
    shown.answer = () => never;
    expect(await shown.ask()).toBe("timeout");
    shown.answer = () => "x";
    expect([await shown.ask(), await shown.ask(), await shown.ask()]).toEqual(["invalid", "invalid", "unavailable"]);
  });

  it("does not count callers who disconnect", async () => {
    const shown = stage({ timeout: 60_000 });
    for (let i = 0; i < 5; i++) {
      const gone = new AbortController();
      shown.answer = () => {
        gone.abort();
        return never;
      };
      const url = "/api/customers/c1?include=subscription";
      await shown.app.api.handle({ method: "GET", url, headers: {}, signal: gone.signal });
    }
    shown.answer = ({ ids }) => titled(ids);
    expect(await shown.ask()).toBeNull();
  });

  it("can be turned off", async () => {
    const shown = stage({ breaker: false });
    for (let i = 0; i < 8; i++) expect(await shown.ask()).toBe("error");
    expect(shown.calls).toHaveLength(8);
  });
});
