import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { httpService } from "../../../src/index.ts";

const baseUrl = "http://billing.internal/api";

/** The error for invalid options, without the leading name. */
function problemsOf(options: object): readonly string[] {
  try {
    httpService(options as Parameters<typeof httpService>[0]);
    return [];
  } catch (error) {
    const { code, problems } = error as { code: string; problems: readonly string[] };
    expect(code).toBe("CONFIGURATION_ERROR");
    return problems.map((problem) => {
      expect(problem).toMatch(/^httpService: /);
      return problem.slice("httpService: ".length);
    });
  }
}

describe("options of httpService", () => {
  it("set the service's deadline, if they have one", () => {
    expect(httpService({ baseUrl, timeout: 500 }).timeout).toBe(500);
    expect(httpService({ baseUrl })).not.toHaveProperty("timeout");
  });

  it.each([
    [{ baseUrl: "http://localhost:3001" }],
    [{ baseUrl: new URL("https://billing.example/v1/") }],
    [{ baseUrl, paths: { subscription: "/subs", plan: "price/plans", order_item: "/o~k/a%20b" } }],
    [{ baseUrl, headers: { Authorization: "Bearer \u00e9" }, timeout: 1, maxBytes: 1 }],
    [{ baseUrl, headers: () => ({}), forward: ["authorization", "Cookie", "x-request-id"], shared: false }],
    [{ baseUrl, forward: [], shared: { ttl: 5 } }],
  ])("accept %o", (options) => {
    expect(problemsOf(options)).toEqual([]);
  });

  it.each([
    [undefined],
    ["billing.internal/api"],
    ["/api"],
    ["ftp://billing.internal"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
  ])("refuse the URL %o", (address) => {
    expect(problemsOf({ baseUrl: address })).toEqual([
      "`baseUrl` must be an address such as https://billing.example/api",
    ]);
  });

  it("refuse a password in the URL, and do not repeat it", () => {
    expect(problemsOf({ baseUrl: "http://shop:hunter2@billing.internal" })).toEqual([
      "`baseUrl` must be without user name and password; send them with `headers`",
    ]);
  });

  it.each(["?", "?a=b", "#", "#top"])("refuse a URL that ends in %o", (end) => {
    expect(problemsOf({ baseUrl: baseUrl + end })).toEqual(["`baseUrl` must be without query and fragment"]);
  });

  it.each(["", "/", "../admin", "a/../../b", "%2e%2e/a", "a//b", "//elsewhere", "a?b", "a#b", "a b", "a\\b", "a/", 5])(
    "refuse the path %o, which would lead elsewhere",
    (path) => {
      expect(problemsOf({ baseUrl, paths: { plan: path } })).toEqual([
        '`paths.plan` must be a path below `baseUrl` such as "/subscriptions"',
      ]);
    },
  );

  it("refuse a path for an invalid entity name", () => {
    expect(problemsOf({ baseUrl, paths: { "a/b": "/ab" } })).toEqual(['`paths`: "a/b" is not the name of an entity']);
  });

  it.each(["host", "Content-Length", "transfer-encoding", "Connection", "te", "proxy-authorization"])(
    "send no %s, neither the app's own nor the caller's",
    (name) => {
      expect(problemsOf({ baseUrl, headers: { [name]: "x" } })).toEqual([
        `\`headers\`: "${name}" is for the connection to say`,
      ]);
      expect(problemsOf({ baseUrl, forward: [name] })).toEqual([`\`forward\`: "${name}" is for the connection to say`]);
    },
  );

  it.each(["a\r\nx-admin: 1", "a\0", "\u2028", 5, null])(
    "refuse the header value %o, and do not repeat it",
    (value) => {
      const [problem, ...others] = problemsOf({ baseUrl, headers: { "x-token": value } });
      expect(others).toEqual([]);
      expect(problem).toMatch(/^`headers`: "x-token" (must be text|has a character that no header can have)$/);
    },
  );

  it.each(["", "a b", "a:b", "a\n"])("refuse the header name %o", (name) => {
    expect(problemsOf({ baseUrl, headers: { [name]: "x" } })).toHaveLength(1);
    expect(problemsOf({ baseUrl, forward: [name] })).toHaveLength(1);
  });

  it("refuse to share one caller's records with others", () => {
    expect(problemsOf({ baseUrl, forward: ["authorization"], shared: { ttl: 1 } })).toEqual([
      "`forward` and `shared` exclude each other: answers to one caller are not for others",
    ]);
    expect(problemsOf({ baseUrl, forward: ["authorization"], shared: true })).toHaveLength(1);
  });

  it("refuse headers with two different sources", () => {
    expect(problemsOf({ baseUrl, headers: { Authorization: "Bearer x" }, forward: ["authorization"] })).toEqual([
      "\"authorization\" is in `headers` and in `forward`; it is this app's or the caller's",
    ]);
  });

  it("list every problem", () => {
    expect(problemsOf({ baseUrl: "x", forward: "authorization", timeout: 0, maxBytes: 1.5, timeOut: 5 })).toEqual([
      "`baseUrl` must be an address such as https://billing.example/api",
      '`forward` must be a list of header names such as ["authorization"]',
      "`timeout` must be a whole number from 1 to 2147483647",
      "`maxBytes` must be a whole number from 1 to 9007199254740991",
      'there is no option "timeOut". Did you mean "timeout"?',
    ]);
    expect(problemsOf({ baseUrl, headers: ["a"] })).toEqual(["`headers`: must be an object"]);
  });

  it("expose only whether responses are shared", () => {
    const shared = { ttl: 5 };
    expect(httpService({ baseUrl, shared }).shared).toEqual(shared);
    const service = httpService({ baseUrl, headers: { authorization: "Bearer canary" } });
    expect(inspect(service, { depth: null, showHidden: true })).not.toMatch(/canary|billing/);
    expect(Object.keys(service)).toEqual(["fetchByIds"]);
    expect(Object.isFrozen(service)).toBe(true);
  });
});
