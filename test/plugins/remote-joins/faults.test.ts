import { afterEach, describe, expect, it } from "vitest";
import { createPlugin, endpoint, type Row } from "../../../src/index.ts";
import { type RunningApp, request, startApp } from "../../support/http.ts";
import { type Call, customers, keepingLog, type LogLine, serviceOf, shop, type TestService, titled } from "./shop.ts";

/** Milliseconds of the deadline here, and a time limit that only a hanging test reaches. */
const TIMEOUT = 150;
const HANGING = 10_000;

let running: RunningApp | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

interface Outcome {
  readonly titles: readonly unknown[];
  readonly header: string | null;
  readonly lines: readonly LogLine[];
  readonly ms: number;
  readonly billing: TestService;
}

/** Lists customers with their subscriptions over HTTP. The status must be 200 for any behaviour of the service. */
async function listFrom(answer: (call: Call) => unknown, count = 2, batchSize = 100): Promise<Outcome> {
  const billing = serviceOf(answer);
  const { lines, logger } = keepingLog();
  const app = shop(billing, { count, logger, remoteJoins: { timeout: TIMEOUT, batchSize, maxRecordBytes: 10_000 } });
  running = await startApp(app.api);
  const start = performance.now();
  const { status, headers, json } = await request(
    running.url,
    "GET",
    `/api/customers?include=subscription&_limit=1000&_sort=id`,
  );
  const ms = performance.now() - start;
  expect(status).toBe(200);
  expect((json as Row[]).map(({ name }) => name)).toHaveLength(count);
  const titles = (json as Row[]).map(({ subscription }) => (subscription as Row | null)?.title ?? null);
  return { titles, header: headers.get("x-remote-errors"), lines, ms, billing };
}

const never = new Promise<never>(() => {});
const circular: Row = { id: "s1", title: "round", extra: {} };
(circular.extra as Row).self = circular;
const throwing = Object.defineProperty({ id: "s1" }, "title", {
  enumerable: true,
  get() {
    throw new Error("canary");
  },
});
const hostile = new Proxy([] as unknown[], {
  get(target, name) {
    if (name === "length") return 2;
    if (name === "0") throw new Error("canary");
    return name === "1" ? { id: "s2", title: "title of s2" } : Reflect.get(target, name);
  },
});
const good = titled(["s2"])[0] as Row;
const BOTH = ["title of s1", "title of s2"];
const SECOND = [null, "title of s2"];

/** A service's behaviour, the subscriptions of the two customers, and the header. */
const FAULTS: readonly (readonly [string, (call: Call) => unknown, readonly unknown[], string | null])[] = [
  [
    "throws at once",
    () => {
      throw new Error("canary");
    },
    [null, null],
    "subscription;error",
  ],
  [
    "throws what is no error",
    () => {
      throw "canary";
    },
    [null, null],
    "subscription;error",
  ],
  [
    "rejects",
    async () => {
      throw new Error("canary");
    },
    [null, null],
    "subscription;error",
  ],
  ["rejects with nothing", () => Promise.reject(undefined), [null, null], "subscription;error"],
  [
    "rejects with what cannot be looked at",
    () =>
      Promise.reject(
        new Proxy(new Error(), {
          get: () => {
            throw new Error();
          },
          getPrototypeOf: () => {
            throw new Error();
          },
        }),
      ),
    [null, null],
    "subscription;error",
  ],
  ["never answers", () => never, [null, null], "subscription;timeout"],
  [
    "never answers, and ignores the signal",
    ({ options }) => {
      options.signal?.addEventListener("abort", () => {});
      return never;
    },
    [null, null],
    "subscription;timeout",
  ],
  [
    "answers late",
    ({ ids }) => new Promise((resolve) => setTimeout(() => resolve(titled(ids)), TIMEOUT * 2)),
    [null, null],
    "subscription;timeout",
  ],
  [
    "fails late",
    () => new Promise((_, reject) => setTimeout(() => reject(new Error("canary")), TIMEOUT * 2)),
    [null, null],
    "subscription;timeout",
  ],
  ["answers undefined", () => undefined, [null, null], "subscription;invalid"],
  ["answers null", async () => null, [null, null], "subscription;invalid"],
  ["answers an object", () => ({}), [null, null], "subscription;invalid"],
  ["answers a text", () => "x", [null, null], "subscription;invalid"],
  [
    "answers something that looks like a list",
    () => ({ length: 2, 0: good, 1: good }),
    [null, null],
    "subscription;invalid",
  ],
  [
    "answers with a list of four thousand million holes",
    () => new Array(2 ** 32 - 1),
    [null, null],
    "subscription;invalid",
  ],
  ["answers in another order", ({ ids }) => titled(ids).reverse(), BOTH, null],
  [
    "sorts the ids it was given",
    ({ options, ids }) => {
      (ids as string[]).reverse();
      (options.select as string[]).length = 0;
      return titled(ids);
    },
    BOTH,
    null,
  ],
  [
    "answers twice about an id: the first counts",
    () => [{ ...good, id: "s1", title: "first" }, { ...good, id: "s1" }, good],
    ["first", "title of s2"],
    null,
  ],
  ["answers about ids nobody asked for", ({ ids }) => titled(["s7", ...ids, "s8"]), BOTH, null],
  ["leaves out an id", () => [good], SECOND, null],
  ["answers with what are no records", () => [null, undefined, 1, "s1", [], good], SECOND, null],
  ["answers with numbers for ids", () => [{ id: 1, title: "one" }], [null, null], null],
  ["answers with a record without an id", () => [{ title: "nobody" }, good], SECOND, null],
  ["answers with an id of a prototype", () => [Object.create({ id: "s1", title: "inherited" }), good], SECOND, null],
  [
    "answers with the id __proto__",
    () => [JSON.parse('{"id":"__proto__","__proto__":{"id":"s1","title":"x"}}'), good],
    SECOND,
    null,
  ],
  [
    "answers with a record of 50 MB",
    () => [{ id: "s1", title: "x".repeat(50_000_000) }, good],
    SECOND,
    "subscription;invalid",
  ],
  [
    "answers with 50 MB in small pieces",
    () => [{ id: "s1", title: "x", extra: Array.from({ length: 1_000_000 }, (_, i) => ({ i })) }, good],
    SECOND,
    "subscription;invalid",
  ],
  [
    "answers with JSON of holes",
    () => [{ id: "s1", title: "x", extra: new Array(2 ** 32 - 1) }, good],
    SECOND,
    "subscription;invalid",
  ],
  ["answers with a circular record", () => [circular, good], SECOND, "subscription;invalid"],
  ["answers with a getter that throws", () => [throwing, good], SECOND, "subscription;invalid"],
  ["answers with a list that throws", () => hostile, SECOND, null],
  ["answers with a value of another type", () => [{ id: "s1", title: 7 }, good], SECOND, "subscription;invalid"],
  [
    "answers with a date that does not exist",
    () => [{ id: "s1", title: "x", endsAt: "2024-02-30" }, good],
    SECOND,
    "subscription;invalid",
  ],
  [
    "answers with a function in JSON",
    () => [{ id: "s1", title: "x", extra: { f: () => 1 } }, good],
    SECOND,
    "subscription;invalid",
  ],
  ["answers with half a surrogate pair", () => [{ id: "s1", title: "\ud800" }, good], SECOND, "subscription;invalid"],
  ["answers with names nobody declared", () => [{ ...good, surprise: "canary", toJSON: () => "canary" }], SECOND, null],
];

describe("a service that", () => {
  it.each(FAULTS)("%s only causes nulls", async (_, answer, titles, header) => {
    const outcome = await listFrom(answer);
    expect(outcome.titles).toEqual(titles);
    expect(outcome.header).toBe(header);
    expect(outcome.ms).toBeLessThan(HANGING);
    expect(outcome.lines.filter(({ level }) => level === "error")).toHaveLength(header === null ? 0 : 1);
    // In development the log contains the service's error; nothing else of it is there.
    const withoutMessages = (key: string, value: unknown) => (key === "message" ? undefined : value);
    expect(JSON.stringify(outcome.lines, withoutMessages)).not.toContain("canary");
  });

  it("never responds costs one deadline, for any number of batches", async () => {
    const { titles, ms, billing } = await listFrom(() => never, 100, 2);
    expect(new Set(titles)).toEqual(new Set([null]));
    expect(ms).toBeLessThan(HANGING);
    expect(billing.calls).toHaveLength(4); // one per concurrent batch; the others were not started
    expect(billing.calls.every(({ options }) => options.signal?.aborted)).toBe(true);
  });

  it("responds to some batches returns these records", async () => {
    const { titles, header } = await listFrom(({ ids }) => (ids.includes("s1") ? never : titled(ids)), 4, 2);
    expect(titles).toEqual([null, null, "title of s3", "title of s4"]);
    expect(header).toBe("subscription;timeout");
  });
});

describe("the log line", () => {
  it("contains the failure and the number of ids, never the ids", async () => {
    const { lines } = await listFrom(() => Promise.reject(new TypeError("canary")), 3);
    expect(lines).toHaveLength(1);
    const [{ level, message, meta }] = lines as [LogLine];
    expect([level, message]).toEqual(["error", "Remote join failed"]);
    expect(meta).toMatchObject({
      entity: "customer",
      relation: "subscription",
      service: "billing",
      reason: "error",
      ids: 3,
      cause: { error: "TypeError" },
    });
    expect(meta.requestId).toEqual(expect.any(String));
    expect(JSON.stringify(meta)).not.toMatch(/"s[123]"/);
  });
});

describe("within one request", () => {
  it("a service that timed out is not called again, and failed ids are requested again", async () => {
    let answer: (call: Call) => unknown = () => never;
    const billing = serviceOf((call) => answer(call));
    const twice = createPlugin({
      id: "test/twice",
      endpoints: {
        twice: endpoint("/twice", {
          rules: ["everyone"],
          async handler({ scope }) {
            const input = { kind: "list", entity: "customer", query: { include: { subscription: {} } } } as const;
            await scope.run(input);
            answer = ({ ids }) => titled(ids);
            return (await scope.run(input)).records;
          },
        }),
      },
    });
    const first = shop(billing, { plugins: [twice], remoteJoins: { timeout: TIMEOUT } });
    const waited = await first.as(null).request("GET", "/twice");
    expect([(waited.body as Row[])[0]?.subscription, billing.calls.length]).toEqual([null, 1]);
    expect(waited.headers.get("x-remote-errors")).toBe("subscription;timeout");
    await first.close();

    answer = () => Promise.reject(new Error("once"));
    const second = shop(billing, { plugins: [twice], remoteJoins: { timeout: TIMEOUT } });
    const failed = await second.as(null).request("GET", "/twice");
    expect((failed.body as Row[])[0]?.subscription).toMatchObject({ id: "s1" });
    await second.close();
  });

  it("a caller who disconnects ends it, and nothing is logged", async () => {
    const { lines, logger } = keepingLog();
    let signal: AbortSignal | undefined;
    const gone = new AbortController();
    const billing = serviceOf(({ options }) => {
      signal = options.signal;
      gone.abort();
      return never;
    });
    const app = shop(billing, { logger, remoteJoins: { timeout: 60_000 } });
    const url = "/api/customers?include=subscription";
    const answered = app.api.handle({ method: "GET", url, headers: {}, signal: gone.signal });
    expect((await answered).status).toBe(200);
    expect(signal?.aborted).toBe(true);
    expect(lines).toEqual([]);
    await app.close();
  });
});

it("customers without a subscription cause no call", async () => {
  const billing = serviceOf(() => never);
  const app = shop(billing, { count: 0 });
  expect((await app.as(null).request("GET", "/api/customers?include=subscription")).body).toEqual([]);
  expect([billing.calls, customers(0)]).toEqual([[], []]);
  await app.close();
});
