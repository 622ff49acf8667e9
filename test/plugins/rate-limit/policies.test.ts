import { describe, expect, it } from "vitest";
import { keelson, memoryDriver } from "../../../src/index.ts";
import { openapiDocument } from "../../../src/plugins/openapi/index.ts";
import { rateLimit } from "../../../src/plugins/rate-limit/index.ts";
import { rawRequest, request, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";
import { letThrough, serveLimited } from "./limit-app.ts";

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe("policies", () => {
  it("allow exactly as many as the limit, of a hundred parallel requests", async () => {
    const { status } = await serveLimited({ policies: [{ name: "all", limit: 37, window: 60, by: "address" }] });
    expect(await letThrough(times(100, () => status("/api/notes")))).toBe(37);
  });

  it("report the remaining quota in every response, and Retry-After in a refusal", async () => {
    const { get } = await serveLimited({ policies: [{ name: "all", limit: 2, window: 60 }] });
    const first = await get("/api/notes");
    expect(first.headers.get("ratelimit-policy")).toBe('"all";q=2;w=60');
    expect(first.headers.get("ratelimit")).toMatch(/^"all";r=1;t=(?:59|60)$/);
    expect((await get("/api/notes/none")).headers.get("ratelimit")).toMatch(/^"all";r=0;t=/);
    const refused = await get("/api/notes");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit")).toMatch(/^"all";r=0;t=/);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(55);
    expect(refused.json).toMatchObject({ code: "RATE_LIMITED", message: "Too many requests", status: 429 });
  });

  it("count each user separately at any address, and anonymous callers by address", async () => {
    const { status } = await serveLimited({
      policies: [{ name: "caller", limit: 1, window: 60 }],
      trustedProxies: 1,
    });
    expect(await status("/api/notes", "192.0.2.1", "ann")).toBe(200);
    expect(await status("/api/notes", "192.0.2.2", "ann")).toBe(429);
    expect(await status("/api/notes", "192.0.2.1", "ben")).toBe(200);
    expect(await status("/api/notes", "192.0.2.1")).toBe(200);
    expect(await status("/api/notes", "192.0.2.1")).toBe(429);
    // A user whose id looks like an address does not share the quota of that address.
    expect(await status("/api/notes", "192.0.2.9", "192.0.2.1")).toBe(200);
  });

  it("refuse by address before getUser is called and the body is read", async () => {
    const { port, askedWho } = await serveLimited({
      policies: [{ name: "login", limit: 1, window: 60, by: "address", for: { action: "login" } }],
    });
    const json = ["Content-Type: application/json"];
    const [first] = await rawRequest(port, requestBytes("POST", "/login", [...json, "Content-Length: 2"], "{}"));
    expect(first?.status).toBe(200);
    const asked = askedWho();
    // Reading this body would result in 400.
    const [refused] = await rawRequest(port, requestBytes("POST", "/login", [...json, "Content-Length: 1"], "{"));
    expect(refused?.status).toBe(429);
    expect(headerOf(refused as NonNullable<typeof refused>, "retry-after")).toMatch(/^\d+$/);
    expect(askedWho()).toBe(asked);
  });

  it("refuse by caller before any rule is checked and the body is read", async () => {
    const { port } = await serveLimited({ policies: [{ name: "caller", limit: 1, window: 60 }] });
    const headers = ["Content-Type: application/json", "Content-Length: 1"];
    const [first] = await rawRequest(port, requestBytes("POST", "/api/notes", headers, "{"));
    expect(first?.status).toBe(401);
    const [refused] = await rawRequest(port, requestBytes("POST", "/api/notes", headers, "{"));
    expect(refused?.status).toBe(429);
  });

  it("limit chosen actions more than others, and report all used quotas", async () => {
    const { url, status } = await serveLimited({
      policies: [
        { name: "caller", limit: 100, window: 60 },
        { name: "login", limit: 2, window: 300, by: "address", for: { action: "login" } },
      ],
    });
    const login = () => request(url, "POST", "/login", { body: {} });
    expect((await login()).headers.get("ratelimit-policy")).toBe('"login";q=2;w=300, "caller";q=100;w=60');
    expect((await login()).status).toBe(200);
    expect((await login()).status).toBe(429);
    expect(await status("/report")).toBe(200);
  });

  it.each([
    ["policy", [200, 429, 429, 429]],
    ["entity", [200, 429, 200, 429]],
    ["route", [200, 200, 200, 429]],
  ] as const)("count each %s separately if a policy says so", async (each, expected) => {
    const { status } = await serveLimited({ policies: [{ name: "reads", limit: 1, window: 60, each }] });
    const statuses: number[] = [];
    for (const path of ["/api/notes", "/api/notes/n1", "/api/films", "/api/films?_limit=1"])
      statuses.push(await status(path));
    expect(statuses).toEqual(expected);
  });

  it("select routes by entity, action and method", async () => {
    const { url, status } = await serveLimited({
      policies: [
        { name: "writes", limit: 1, window: 60, for: { entity: ["film"], method: ["post"], action: "create" } },
      ],
    });
    const create = async (path: string) => (await request(url, "POST", path, { body: { title: "A" } })).status;
    expect([await create("/api/films"), await create("/api/films")]).toEqual([201, 429]);
    expect([await status("/api/films"), await create("/api/notes")]).toEqual([200, 401]);
  });

  it("count by the result of a function, and not at all without a result", async () => {
    const { status } = await serveLimited({
      policies: [
        {
          name: "tenant",
          limit: 1,
          window: 60,
          by: ({ principal }) => (principal.user?.id === "root" ? undefined : principal.user?.id.split("-")[0]),
        },
      ],
    });
    const as = (token: string) => status("/api/notes", undefined, token);
    expect([await as("acme-1"), await as("acme-2"), await as("other-1")]).toEqual([200, 429, 200]);
    expect([await as("root"), await as("root"), await as("root")]).toEqual([200, 200, 200]);
  });

  it("never refuse a health probe", async () => {
    const { status } = await serveLimited({ policies: [{ name: "all", limit: 1, window: 60, by: "address" }] });
    const probes = ["/health/live", "/health/ready", "/health/live", "/health/ready"];
    expect(await Promise.all(probes.map((path) => status(path)))).toEqual([200, 200, 200, 200]);
  });

  it("document 429 only for the routes that they limit", async () => {
    const api = keelson({
      entities: [],
      driver: memoryDriver(),
      plugins: [
        rateLimit({
          policies: [
            { name: "doc", limit: 9, window: 60, for: { action: "ready" } },
            { name: "all", limit: 9, window: 60 },
          ],
        }),
      ],
    });
    await expect(api.ready).rejects.toMatchObject({
      problems: [expect.stringContaining('policy "doc" fits no route')],
    });
    await api.close();
    const { url } = await serveLimited({
      policies: [{ name: "reads", limit: 9, window: 60, for: { entity: "note", action: "list" } }],
    });
    const { json } = await request(url, "GET", "/openapi.json");
    expect(json.paths["/api/notes"].get.responses).toHaveProperty("429");
    expect(json.paths["/api/films"].get.responses).not.toHaveProperty("429");
  });

  it("have default limits", async () => {
    const { get } = await serveLimited({});
    expect((await get("/api/notes")).headers.get("ratelimit-policy")).toBe(
      '"address";q=1000;w=60, "caller";q=300;w=60',
    );
  });

  it("do not count in-process work", async () => {
    const api = keelson({
      entities: [],
      driver: memoryDriver(),
      plugins: [rateLimit({ policies: [{ name: "all", limit: 1, window: 60 }] })],
    });
    await api.ready;
    await expect(openapiDocument(api)).resolves.toHaveProperty("paths");
    await expect(openapiDocument(api)).resolves.toHaveProperty("paths");
    await api.close();
  });
});

describe("options", () => {
  const problemsOf = (options: unknown): readonly string[] => {
    try {
      keelson({ entities: [], driver: memoryDriver(), plugins: [rateLimit(options as object)] });
      return [];
    } catch (error) {
      return (error as { problems: readonly string[] }).problems;
    }
  };
  const policy = { name: "all", limit: 1, window: 1 };

  it.each([
    [{ polices: [] }, 'there is no option "polices". Did you mean "policies"?'],
    [{ policies: [{ ...policy, windw: 1 }] }, 'policy "all": there is no option "windw". Did you mean "window"?'],
    [{ policies: [{ ...policy, limit: 0 }] }, "`limit` must be a whole number from 1 to 1000000000"],
    [{ policies: [{ ...policy, window: 0.5 }] }, "`window` must be a whole number from 1 to 86400"],
    [{ policies: [{ ...policy, name: "A;b" }] }, "`name` must be lower-case letters"],
    [{ policies: [policy, policy] }, 'two policies are called "all"'],
    [{ policies: [{ ...policy, by: "ip" }] }, '`by` must be "address", "caller" or a function'],
    [{ policies: [{ ...policy, each: "user" }] }, '`each` must be "policy", "entity" or "route"'],
    [{ policies: [{ ...policy, for: { actoin: "login" } }] }, 'there is no option "actoin"'],
    [{ policies: [{ ...policy, for: { action: [] } }] }, "`for.action` must be a name, or a list of names"],
    [{ policies: [null] }, "`policies[0]` is not a policy"],
    [{ trustedProxies: true }, "`trustedProxies` is how many proxies there are"],
    [{ trustedProxies: ["10.0.0.0/33"] }, '"10.0.0.0/33" is neither an address nor a network'],
    [{ trustedProxies: ["proxy.example"] }, '"proxy.example" is neither an address nor a network'],
    [{ onStoreFailure: "allow" }, '`onStoreFailure` must be "memory" or "refuse"'],
    [{ storeTimeoutMs: 0 }, "`storeTimeoutMs` must be a whole number from 1 to 60000"],
    [{ store: {} }, "`store` must be a store such as memoryRateStore()"],
  ])("keep an app from starting when they are invalid: %j", (options, problem) => {
    expect(problemsOf(options).join("\n")).toContain(problem);
  });

  it("are all reported together", () => {
    expect(problemsOf({ store: {}, trustedProxies: -1, policies: [{ ...policy, limit: "1" }] })).toHaveLength(3);
  });
});
