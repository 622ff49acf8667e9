import { describe, expect, it } from "vitest";
import { keelson, memoryDriver } from "../../../src/index.ts";
import { rateLimit } from "../../../src/plugins/rate-limit/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { letThrough, serveLimited } from "./limit-app.ts";

const policies = [{ name: "address", limit: 1, window: 60, by: "address" }] as const;

describe("addresses", () => {
  it("get no new quota from a spoofed X-Forwarded-For if no proxy is trusted", async () => {
    const { status } = await serveLimited({ policies });
    const forged = Array.from({ length: 20 }, (_, i) => status("/report", `192.0.2.${i}`));
    expect(await letThrough(forged)).toBe(1);
  });

  it("get none if the peer is not a trusted proxy", async () => {
    const { status } = await serveLimited({ policies, trustedProxies: ["10.0.0.0/8", "fd00::/8"] });
    const forged = Array.from({ length: 20 }, (_, i) => status("/report", `192.0.2.${i}, 10.0.0.1`));
    expect(await letThrough(forged)).toBe(1);
  });

  it.each([1, ["127.0.0.1"], ["127.0.0.0/8"], ["::ffff:127.0.0.1"]])(
    "count separately behind a trusted proxy (%j)",
    async (trustedProxies) => {
      const { status } = await serveLimited({ policies, trustedProxies });
      const ask = (from: string) => status("/report", from);
      expect(await letThrough(Array.from({ length: 20 }, (_, i) => ask(`192.0.2.${i}`)))).toBe(20);
      expect(await ask("192.0.2.1")).toBe(429);
      // Values from the client itself are to the left of the proxy's.
      expect(await ask("203.0.113.1, 203.0.113.2, 192.0.2.1")).toBe(429);
    },
  );

  it("are read from right to left, past trusted proxies only", async () => {
    const byNetwork = await serveLimited({ policies, trustedProxies: ["127.0.0.1", "10.1.0.0/16"] });
    const byCount = await serveLimited({ policies, trustedProxies: 3 });
    for (const { status } of [byNetwork, byCount]) {
      const ask = (forged: string) => status("/report", `${forged}192.0.2.1, 10.1.2.3, 10.1.9.9`);
      expect([await ask(""), await ask("198.51.100.1, "), await ask("10.1.0.1, ")]).toEqual([200, 429, 429]);
    }
    // A machine that is not a trusted proxy is the client, and its headers are ignored.
    const ask = (forged: string) => byNetwork.status("/report", `${forged}, 192.0.2.50, 10.1.9.9`);
    expect([await ask("192.0.2.60"), await ask("192.0.2.70")]).toEqual([200, 429]);
  });

  it("in several header lines are one list", async () => {
    const { port } = await serveLimited({ policies, trustedProxies: 1 });
    const ask = async (...lines: string[]) => {
      const sent = lines.map((line) => `X-Forwarded-For: ${line}`);
      return (await rawRequest(port, requestBytes("GET", "/report", sent)))[0]?.status;
    };
    expect(await ask("192.0.2.1")).toBe(200);
    expect(await ask("192.0.2.2", "192.0.2.1")).toBe(429);
  });

  it("are the same in every notation, with or without a port", async () => {
    const { status } = await serveLimited({ policies, trustedProxies: 1 });
    const same = [
      ["192.0.2.1", "::ffff:192.0.2.1", "::FFFF:c000:201", "192.0.2.1:4711", "[::ffff:192.0.2.1]:80", " 192.0.2.1 "],
      [
        "2001:db8::1",
        "2001:0DB8:0:0::2",
        "[2001:db8::3]",
        "[2001:db8::4]:443",
        "2001:db8::ffff:192.0.2.1",
        "2001:db8::1%eth0",
      ],
    ];
    for (const forms of same) {
      const statuses: number[] = [];
      for (const form of forms) statuses.push(await status("/report", form));
      expect(statuses).toEqual([200, ...forms.slice(1).map(() => 429)]);
    }
  });

  it("in one 64-bit IPv6 network share a quota, and the next network has its own", async () => {
    const { status } = await serveLimited({ policies, trustedProxies: 1 });
    const ask = (from: string) => status("/report", from);
    expect([await ask("2001:db8:1:2::1"), await ask("2001:db8:1:2:ffff:ffff:ffff:ffff")]).toEqual([200, 429]);
    expect([await ask("2001:db8:1:3::1"), await ask("::1"), await ask("::")]).toEqual([200, 200, 429]);
  });

  it("that are malformed count as the proxy that sent them", async () => {
    const { status } = await serveLimited({ policies, trustedProxies: 1 });
    const nonsense = ["unknown", "999.1.1.1", "", "1.2.3", "[::1", "_hidden", "192.0.2.1.5", "1::2::3", "192.0.2.1:x"];
    expect(await letThrough(nonsense.map((from) => status("/report", from)))).toBe(1);
  });

  it("that the host does not report share one quota, with one warning in the log", async () => {
    const logger = recordingLogger();
    const api = keelson({ entities: [], driver: memoryDriver(), logger, plugins: [rateLimit({ policies })] });
    const ask = async (headers: Record<string, string>) =>
      (await api.fetch(new Request("http://host/openapi.json", { headers }))).status;
    expect(await ask({})).toBe(200);
    expect([await ask({}), await ask({ "x-forwarded-for": "192.0.2.1" })]).toEqual([429, 429]);
    expect(logger.lines.filter((line) => line.includes("The address of requests is unknown"))).toHaveLength(1);
    await api.close();
  });

  it("are taken by the number of proxies if the host does not report them", async () => {
    const plugins = [rateLimit({ policies, trustedProxies: 1 })];
    const api = keelson({ entities: [], driver: memoryDriver(), plugins });
    const ask = async (from: string) =>
      (await api.fetch(new Request("http://host/openapi.json", { headers: { "x-forwarded-for": from } }))).status;
    expect([await ask("192.0.2.1"), await ask("192.0.2.2"), await ask("9.9.9.9, 192.0.2.1")]).toEqual([200, 200, 429]);
    await api.close();
  });
});
