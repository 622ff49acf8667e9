import { createPlugin, endpoint, memoryDriver } from "keelson";
import { createTokenSigner, jwtAuth } from "keelson/jwt";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const options = {
  secret: "0123456789abcdef0123456789abcdef0123456789abcdef",
  issuer: "https://a.example",
  audience: "a",
};
const who = createPlugin({
  id: "who",
  endpoints: { who: endpoint("/who", { rules: ["authenticated"], handler: ({ scope }) => scope.principal.user }) },
});

async function boot() {
  const kernel = createFakeKernel().withDriver(memoryDriver());
  await kernel.use(jwtAuth(options));
  return kernel.use(who);
}

describe("jwtAuth alone", () => {
  it("adds a hook for its challenge, and nothing else", async () => {
    const { seen } = await createFakeKernel().use(jwtAuth(options));
    expect(seen).toEqual({
      services: [],
      hooks: ["request:end"],
      routes: [],
      requires: [],
      provides: [],
      problems: [],
    });
  });

  it("recognises the user of a token", async () => {
    const kernel = await boot();
    const token = await createTokenSigner({ ...options, expiresIn: 60 })({ sub: "ann" });
    const answer = await kernel.call("GET", "/who", { headers: { authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({ status: 200, body: { id: "ann" } });
  });

  it("responds with 401 and a challenge to an invalid or missing token", async () => {
    const kernel = await boot();
    for (const headers of [{ authorization: "Bearer x.y.z" }, {}]) {
      const answer = await kernel.call("GET", "/who", { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
    }
  });

  it("does not start without a secret", async () => {
    await expect(createFakeKernel().use(jwtAuth({} as never))).rejects.toThrow("`secret` or `jwks` is missing");
  });
});
