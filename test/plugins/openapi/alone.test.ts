import { createPlugin, endpoint, memoryDriver } from "keelson";
import { openapi } from "keelson/openapi";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const extras = createPlugin({
  id: "extras",
  endpoints: {
    open: endpoint("/open", { rules: ["everyone"], handler: () => 1 }),
    admins: endpoint("/admins", { rules: ["admin"], handler: () => 1 }),
  },
});

describe("openapi alone", () => {
  it("adds the document and its page", async () => {
    const { seen } = await createFakeKernel().use(openapi());
    expect(seen.routes).toEqual(expect.arrayContaining(["GET /docs", "GET /openapi.json"]));
    expect(seen).toMatchObject({ hooks: [], requires: ["rules"], problems: [] });
  });

  it("adds no routes when it is not served", async () => {
    expect((await createFakeKernel().use(openapi({ served: false, docs: false }))).seen.routes).toEqual([]);
  });

  it("does not start with a page and no document", async () => {
    await expect(createFakeKernel().use(openapi({ served: false, docs: true }))).rejects.toThrow("docs: false");
  });

  it("gives readers with other rights another document", async () => {
    const kernel = createFakeKernel().withDriver(memoryDriver());
    await kernel.use(extras);
    await kernel.use(openapi());
    const tagFor = async (user: { id: string; role?: string } | null) => {
      const { status, headers } = await kernel.as(user).call("GET", "/openapi.json");
      return [status, headers.etag];
    };
    const anonymous = await tagFor(null);
    expect(anonymous).toEqual([200, expect.any(String)]);
    expect(await tagFor(null)).toEqual(anonymous);
    expect(await tagFor({ id: "eve", role: "admin" })).not.toEqual(anonymous);
  });
});
