import { getEventListeners } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { httpService } from "../../../src/index.ts";
import { deferred } from "../../support/deferred.ts";
import { listServer, sendJson } from "./list-server.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ask = (baseUrl: string, options: object = {}) =>
  httpService({ baseUrl, ...options }).fetchByIds("plan", ["a"], { select: ["id"] });

describe("a response to httpService", () => {
  it.each([201, 204, 301, 302, 307, 401, 403, 404, 429, 500, 503])(
    "with status %i and no list is an error with the host and no more",
    async (status) => {
      const { baseUrl, host } = await listServer((response) =>
        response.writeHead(status, { location: "/canary", "x-canary": "canary" }).end(),
      );
      const what = status < 300 ? "something other than JSON" : String(status);
      await expect(ask(baseUrl)).rejects.toMatchObject({
        code: "PLUGIN_ERROR",
        message: `${host} answered with ${what}`,
      });
    },
  );

  it("is not quoted in the error, and neither is the request", async () => {
    const { baseUrl } = await listServer((response) => sendJson(response, { message: "canary" }, 500));
    const headers = { authorization: "Bearer canary" };
    const failure = await Promise.resolve(httpService({ baseUrl, headers }).fetchByIds("plan", ["canary"])).catch(
      (error: Error) => `${error.message} ${JSON.stringify(error)} ${error.stack}`,
    );
    expect(failure).not.toContain("canary");
    expect(failure).toContain("answered with 500");
  });

  it("that redirects is not followed", async () => {
    const elsewhere = await listServer();
    const { baseUrl, host } = await listServer((response) =>
      response.writeHead(302, { location: `${elsewhere.baseUrl}/plans?id=a` }).end(),
    );
    await expect(ask(baseUrl)).rejects.toThrow(`${host} answered with 302`);
    expect(elsewhere.targets).toEqual([]);
  });

  it.each([
    ["application/json", true],
    ["Application/JSON; charset=utf-8", true],
    ["application/vnd.api+json", true],
    ["text/html", false],
    ["text/json", false],
    ["application/jsonp", false],
    ["application/x-ndjson", false],
    ["", false],
  ])("of the type %o is read: %s", async (type, isRead) => {
    const { baseUrl, host } = await listServer((response) =>
      response.writeHead(200, type === "" ? {} : { "content-type": type }).end('[{"id":"a"}]'),
    );
    const answer = ask(baseUrl);
    if (isRead) expect(await answer).toEqual([{ id: "a" }]);
    else await expect(answer).rejects.toThrow(`${host} answered with something other than JSON`);
  });

  it.each([
    ['[{"id":"canary"', "broken JSON"],
    ["", "broken JSON"],
    ['{"data":[]}', "something other than a list"],
    ["null", "something other than a list"],
    [Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), "bytes that are not UTF-8"],
  ])("with the body %o is an error", async (body, what) => {
    const { baseUrl, host } = await listServer((response) => response.writeHead(200, JSON_TYPE).end(body));
    await expect(ask(baseUrl)).rejects.toMatchObject({ reason: "invalid", message: `${host} answered with ${what}` });
  });

  it("is read up to the limit, and aborted beyond it", async () => {
    const list = JSON.stringify([{ id: "a" }]);
    const exact = await listServer((response) => response.writeHead(200, JSON_TYPE).end(list));
    expect(await ask(exact.baseUrl, { maxBytes: list.length })).toEqual([{ id: "a" }]);
    await expect(ask(exact.baseUrl, { maxBytes: list.length - 1 })).rejects.toThrow("more than `maxBytes`");

    const brokenOff = deferred<void>();
    let sent = 0;
    const endless = await listServer((response) => {
      response.on("close", () => brokenOff.resolve());
      response.writeHead(200, JSON_TYPE).write("[");
      const more = (): void => {
        if (response.destroyed) return;
        sent += 65_536;
        response.write(" ".repeat(65_536), more);
      };
      more();
    });
    await expect(ask(endless.baseUrl, { maxBytes: 262_144 })).rejects.toThrow(
      `${endless.host} answered with more than \`maxBytes\``,
    );
    await brokenOff.promise;
    expect(sent).toBeLessThan(32 * 1_048_576);
  });

  it("counts with its decompressed bytes", async () => {
    const packed = gzipSync(`["${" ".repeat(100_000)}"]`);
    const { baseUrl } = await listServer((response) =>
      response.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" }).end(packed),
    );
    expect(packed.length).toBeLessThan(1_000);
    await expect(ask(baseUrl, { maxBytes: 50_000 })).rejects.toThrow("more than `maxBytes`");
    expect(await ask(baseUrl)).toHaveLength(1);
  });

  it("counts together with the others of the same call, up to 5 MiB", async () => {
    const { baseUrl } = await listServer((response) => sendJson(response, ["x".repeat(2_000_000)]));
    const { fetchByIds } = httpService({ baseUrl });
    const ids = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);
    expect(await fetchByIds("plan", ids(300))).toHaveLength(2);
    await expect(fetchByIds("plan", ids(500))).rejects.toThrow("more than `maxBytes`");
  });

  it("may omit fields that this app may not read", async () => {
    const { baseUrl, targets } = await listServer((response, { url = "" }) =>
      url.includes("select=") ? sendJson(response, {}, 400) : sendJson(response, [{ id: "a" }]),
    );
    const { fetchByIds } = httpService({ baseUrl });
    expect(await fetchByIds("plan", ["a", "&select=b&"], { select: ["id", "cost"], include: { x: true } })).toEqual([
      { id: "a" },
    ]);
    expect(targets).toEqual([
      "/api/plans?id=a&id=%26select%3Db%26&select=id,cost&include=x&_total=none",
      "/api/plans?id=a&id=%26select%3Db%26&include=x&_total=none",
    ]);
  });

  it("of status 400 is an error if it names no field, or is repeated", async () => {
    const { baseUrl, host, targets } = await listServer((response) => sendJson(response, {}, 400));
    const { fetchByIds } = httpService({ baseUrl });
    await expect(fetchByIds("plan", ["a"])).rejects.toThrow(`${host} answered with 400`);
    await expect(fetchByIds("plan", ["a"], { select: ["id"] })).rejects.toThrow(`${host} answered with 400`);
    expect(targets).toHaveLength(3);
  });

  it("that never comes ends at the call's deadline", async () => {
    const closed = deferred<void>();
    const silent = await listServer((response) => response.on("close", () => closed.resolve()));
    await expect(ask(silent.baseUrl, { timeout: 50 })).rejects.toMatchObject({ reason: "timeout" });
    await closed.promise;
    const halting = await listServer((response) => response.writeHead(200, JSON_TYPE).write("["));
    await expect(ask(halting.baseUrl, { timeout: 50 })).rejects.toMatchObject({ reason: "timeout" });
    const noToken = { timeout: 50, headers: () => new Promise<never>(() => {}) };
    await expect(ask(halting.baseUrl, noToken)).rejects.toMatchObject({ reason: "timeout" });
  });

  it("is no longer awaited when its caller has disconnected", async () => {
    const closed = deferred<void>();
    const stop = new AbortController();
    const { baseUrl, targets } = await listServer((response) => {
      response.on("close", () => closed.resolve());
      stop.abort(new TypeError("gone"));
    });
    const { fetchByIds } = httpService({ baseUrl, timeout: 60_000 });
    const { signal } = stop;
    await expect(fetchByIds("plan", ["a"], { signal })).rejects.toThrow("gone");
    await closed.promise;
    await expect(fetchByIds("plan", ["a"], { signal })).rejects.toThrow("gone");
    expect(targets).toHaveLength(1);
  });

  it("leaves no listener on the caller's signal", async () => {
    const { signal } = new AbortController();
    const good = await listServer();
    const bad = await listServer((response) => sendJson(response, {}, 500));
    await httpService({ baseUrl: good.baseUrl }).fetchByIds("plan", ["a"], { signal });
    const failing = httpService({ baseUrl: bad.baseUrl }).fetchByIds("plan", ["a"], { signal });
    await expect(failing).rejects.toThrow("answered with 500");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("that fails because of a closed port or broken connection names only the host", async () => {
    const breaking = await listServer((response) => response.socket?.destroy());
    const cut = await listServer((response) => {
      response.writeHead(200, { ...JSON_TYPE, "content-length": "100" }).write("[", () => response.destroy());
    });
    for (const { baseUrl, host } of [breaking, cut, { baseUrl: "http://127.0.0.1:1/api", host: "127.0.0.1:1" }])
      await expect(ask(baseUrl)).rejects.toMatchObject({ reason: "unavailable", message: `${host} cannot be reached` });
  });
});
