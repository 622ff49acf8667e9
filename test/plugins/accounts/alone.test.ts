import { accounts } from "keelson/better-auth";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const secret = "a secret of this test, long enough to sign with";
const baseUrl = "http://shop.example";

describe("accounts alone", () => {
  it("adds the routes of better-auth below its path, and no hook", async () => {
    const kernel = await createFakeKernel().use(accounts({ baseUrl, secret, path: "/logins" }));
    const { routes, ...rest } = kernel.seen;
    expect(rest).toEqual({ hooks: [], services: [], requires: ["rules"], provides: [], problems: [] });
    expect(routes.length).toBeGreaterThan(0);
    expect(routes.filter((route) => !route.includes(" /logins/"))).toEqual([]);
    await kernel.close();
  });

  it.each<[string, object]>([
    ["`secret` has at least 32 characters", { secret: "short" }],
    ["`baseUrl` is the address that browsers see", { baseUrl: "shop" }],
    ['there is no option "mails". Did you mean "mail"?', { mails: {} }],
  ])("does not start: %s", async (problem, options) => {
    await expect(createFakeKernel().use(accounts({ baseUrl, secret, ...options }))).rejects.toThrow(problem);
  });
});
