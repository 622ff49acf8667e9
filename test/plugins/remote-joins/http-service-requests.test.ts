import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { httpService } from "../../../src/index.ts";
import { deferred } from "../../support/deferred.ts";
import { propertyOptions } from "../../support/properties.ts";
import { idsOf, listServer, ownRecords, sendJson } from "./list-server.ts";

const caller = (headers: Record<string, string>) => ({ user: null, header: (name: string) => headers[name] });
const many = (count: number, id: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => id(i));

describe("the request of httpService", () => {
  it("is one list below the URL, by id", async () => {
    const { baseUrl, targets, headers } = await listServer();
    const { fetchByIds } = httpService({ baseUrl });
    expect(await fetchByIds("subscription", ["a", "b"])).toEqual([{ id: "a" }, { id: "b" }]);
    expect(targets).toEqual(["/api/subscriptions?id=a&id=b&_total=none"]);
    expect(headers[0]?.accept).toBe("application/json");
  });

  it.each([
    ["", "/people?"],
    ["/", "/people?"],
    ["/v1/api//", "/v1/api/people?"],
  ])("keeps the path of the URL %o", async (path, target) => {
    const { host, targets } = await listServer();
    await httpService({ baseUrl: `http://${host}${path}` }).fetchByIds("person", ["a"]);
    expect(targets[0]).toContain(target);
    expect(targets[0]?.indexOf(target)).toBe(0);
  });

  it("has the plural in kebab-case as its path, or the given path", async () => {
    const { baseUrl, targets } = await listServer();
    const { fetchByIds } = httpService({ baseUrl, paths: { sheep: "/flock/all" } });
    for (const name of ["orderItem", "order_item", "category", "sheep", "constructor"]) await fetchByIds(name, ["a"]);
    expect(targets.map((target) => target.split("?")[0])).toEqual([
      "/api/order-items",
      "/api/order-items",
      "/api/categories",
      "/api/flock/all",
      "/api/constructors",
    ]);
  });

  it("is not sent for an invalid entity name", async () => {
    const { baseUrl, targets } = await listServer();
    const { fetchByIds } = httpService({ baseUrl });
    for (const name of ["../admin", "a/b", "a?b", "", "__proto__"])
      await expect(fetchByIds(name, ["a"])).rejects.toMatchObject({ code: "PLUGIN_ERROR" });
    expect(targets).toEqual([]);
  });

  it("names fields and relations in Keelson's syntax", async () => {
    const { baseUrl, targets } = await listServer();
    const { fetchByIds } = httpService({ baseUrl });
    await fetchByIds("order", ["a"], { select: ["id", "total"], include: { customer: { city: true }, lines: true } });
    await fetchByIds("order", ["a"], { include: { customer: {}, lines: false, notes: { author: false } } });
    await fetchByIds("order", ["a"], { select: [], include: true });
    expect(targets).toEqual([
      "/api/orders?id=a&select=id,total&include=customer.city,lines&_total=none",
      "/api/orders?id=a&include=customer,notes&_total=none",
      "/api/orders?id=a&_total=none",
    ]);
  });

  it("arrives unchanged, with any characters in an id", async () => {
    const { baseUrl, targets } = await listServer();
    const { fetchByIds } = httpService({ baseUrl });
    const hostile = [
      "../admin?x=",
      "http://169.254.169.254/",
      "1/../../2",
      "a&id=b",
      "a#b",
      "a%00",
      "é 😀+",
      "",
      "a,b",
    ];
    expect(await fetchByIds("plan", hostile)).toEqual(hostile.map((id) => ({ id })));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 20 }),
        async (ids) => {
          const readable = ids.filter((id) => !id.includes("\0"));
          expect(await fetchByIds("plan", ids)).toEqual(readable.map((id) => ({ id })));
        },
      ),
      propertyOptions(50),
    );
    expect(targets.filter((target) => !target.startsWith("/api/plans?"))).toEqual([]);
  });

  it("leaves out invalid ids, and is not sent if no id is left", async () => {
    const { baseUrl, ids, targets } = await listServer();
    const { fetchByIds } = httpService({ baseUrl });
    expect(await fetchByIds("plan", ["\ud800", "a", "b\0", "x".repeat(9_000)])).toEqual([{ id: "a" }]);
    expect(ids()).toEqual([["a"]]);
    expect(await fetchByIds("plan", ["\ud800"])).toEqual([]);
    expect(await fetchByIds("plan", [])).toEqual([]);
    expect(targets).toHaveLength(1);
  });

  it("fits the limits of other servers: 200 parameters, URLs of 8 KiB", async () => {
    const { baseUrl, ids, targets } = await listServer();
    const { fetchByIds } = httpService({ baseUrl });
    const short = many(450, (i) => `s${i}`);
    const long = many(100, (i) => `${i}-${"é".repeat(60)}`);
    const shape = { select: ["id", "name"], include: { a: true } };
    for (const asked of [short, long]) {
      const before = targets.length;
      expect(await fetchByIds("plan", asked, shape)).toEqual(asked.map((id) => ({ id })));
      expect(ids().slice(before).flat().sort()).toEqual([...asked].sort());
    }
    expect(targets).toHaveLength(3 + 5);
    for (const target of targets) {
      expect(Buffer.byteLength(target)).toBeLessThanOrEqual(8_192);
      expect([...new URL(target, baseUrl).searchParams].length).toBeLessThanOrEqual(200);
    }
    expect(targets.filter((target) => target.includes("select=id,name&include=a&_total=none"))).toHaveLength(8);
  });

  it("is refused if fields and relations leave no room for ids", async () => {
    const { baseUrl, targets } = await listServer();
    const select = many(500, (i) => `field${i}`);
    await expect(httpService({ baseUrl }).fetchByIds("plan", ["a"], { select })).rejects.toMatchObject({
      code: "PLUGIN_ERROR",
      message: "`select` and `include` are too long for an address; ask for fewer fields or relations",
    });
    expect(targets).toEqual([]);
  });

  it("is split into at most four at once, all of which end when one fails", async () => {
    let open = 0;
    let most = 0;
    const four = deferred<void>();
    const failing = deferred<void>();
    const gone: Promise<void>[] = [];
    const { baseUrl, targets } = await listServer((response, request) => {
      most = Math.max(most, ++open);
      if (open === 4) four.resolve();
      if (idsOf(request.url ?? "")[0]?.startsWith("2-")) void failing.promise.then(() => sendJson(response, {}, 500));
      else gone.push(new Promise((resolve) => response.on("close", () => resolve())));
    });
    const ids = many(10, (i) => `${i}-${"x".repeat(5_000)}`); // no two of them fit into one URL
    const answer = httpService({ baseUrl }).fetchByIds("plan", ids);
    await four.promise;
    failing.resolve();
    await expect(answer).rejects.toMatchObject({ message: `${new URL(baseUrl).host} answered with 500` });
    await Promise.all(gone);
    expect([most, targets.length]).toEqual([4, 4]);
  });
});

describe("the identity of httpService", () => {
  it("is anonymous by default", async () => {
    const { baseUrl, headers } = await listServer();
    const options = { caller: caller({ authorization: "Bearer ann", cookie: "session=ann", "x-user": "ann" }) };
    await httpService({ baseUrl }).fetchByIds("plan", ["a"], options);
    expect(JSON.stringify(headers)).not.toContain("ann");
    expect(headers[0]).not.toHaveProperty("authorization");
  });

  it("is this app with its own headers, which a function may create for each call", async () => {
    const { baseUrl, headers } = await listServer();
    let turn = 0;
    const token = async () => ({ Authorization: `Bearer ${++turn}`, ACCEPT: "application/hal+json" });
    const { fetchByIds } = httpService({ baseUrl, headers: token });
    await fetchByIds(
      "plan",
      many(300, (i) => `p${i}`),
    );
    await fetchByIds("plan", ["a"]);
    expect(headers.map(({ authorization, accept }) => [authorization, accept])).toEqual([
      ["Bearer 1", "application/hal+json"],
      ["Bearer 1", "application/hal+json"],
      ["Bearer 2", "application/hal+json"],
    ]);
  });

  it("is the caller with only the named headers", async () => {
    const { baseUrl, headers } = await listServer();
    const { fetchByIds } = httpService({
      baseUrl,
      forward: ["Authorization", "x-trace"],
      headers: { "x-app": "shop" },
    });
    const given = { authorization: "Bearer ann", Authorization: "Bearer ann", cookie: "session=ann", "x-trace": "7" };
    await fetchByIds("plan", ["a"], { caller: caller(given) });
    await fetchByIds("plan", ["a"], { caller: caller({}) });
    await fetchByIds("plan", ["a"]);
    expect(
      headers.map(({ authorization, cookie, ...rest }) => [authorization, cookie, rest["x-trace"], rest["x-app"]]),
    ).toEqual([
      ["Bearer ann", undefined, "7", "shop"],
      [undefined, undefined, undefined, "shop"],
      [undefined, undefined, undefined, "shop"],
    ]);
  });

  it("does not forward a value that would be two headers", async () => {
    const { baseUrl, headers } = await listServer();
    const { fetchByIds } = httpService({ baseUrl, forward: ["x-trace"] });
    await fetchByIds("plan", ["a"], { caller: caller({ "x-trace": "7\r\nx-admin: 1" }) });
    expect(headers[0]).not.toHaveProperty("x-trace");
    expect(headers[0]).not.toHaveProperty("x-admin");
  });

  it.each([
    [() => ({ authorization: "Bearer\ncanary" }), '`headers`: "authorization" has a character that no header can have'],
    [() => ({ host: "canary" }), '`headers`: "host" is for the connection to say'],
    [() => null, "`headers`: must be an object"],
    [() => ({ "X-Trace": "canary" }), "\"x-trace\" is in `headers` and in `forward`; it is this app's or the caller's"],
  ])("is refused with invalid headers: %s", async (headers, message) => {
    const { baseUrl, targets } = await listServer();
    const { fetchByIds } = httpService({
      baseUrl,
      headers: headers as () => Record<string, string>,
      forward: ["x-trace"],
    });
    await expect(fetchByIds("plan", ["a"])).rejects.toMatchObject({ code: "PLUGIN_ERROR", message });
    expect(targets).toEqual([]);
  });

  it("fails with the function that creates its headers", async () => {
    const { baseUrl, targets } = await listServer(ownRecords);
    const failure = new TypeError("no token");
    const { fetchByIds } = httpService({ baseUrl, headers: () => Promise.reject(failure) });
    await expect(fetchByIds("plan", ["a"])).rejects.toBe(failure);
    expect(targets).toEqual([]);
  });
});
