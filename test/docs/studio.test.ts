import type { Keelson, Plugin } from "keelson";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ENGLISH } from "../../src/plugins/studio/page/words.ts";
import { openPage, type Page } from "../support/page.ts";
import { membersOf } from "./concepts/members-of.ts";

let guide: Page;

beforeAll(() => {
  guide = openPage("guides/studio");
});
afterAll(() => guide.remove());

async function read(api: Keelson, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await api.fetch(new Request("http://localhost/studio/app.json", { headers }));
  // biome-ignore lint/suspicious/noExplicitAny: the description is plain JSON
  return { status: response.status, json: (await response.json()) as any };
}

describe("docs/guides/studio.md", () => {
  it("has an app that shows each caller the documented parts", async () => {
    const { api } = await guide.load<{ api: Keelson }>("shop.ts");
    onTestFinished(() => api.close());
    const orderOf = async (token: string) =>
      (await read(api, token)).json.entities.find(({ name }: { name: string }) => name === "order");
    const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
    const [ann, root] = [await orderOf("ann"), await orderOf("root")];
    expect(names(ann.fields)).not.toContain("margin");
    expect(names(ann.actions)).not.toContain("refund");
    expect(names(root.fields)).toContain("margin");
    expect(names(root.actions)).toContain("refund");
    expect((await read(api, "root")).json.charts).toHaveLength(1);
    expect((await read(api)).json.entities).toEqual([]);
  });

  it("has an app with a studio in production, for the callers in its rules", async () => {
    const { api } = await guide.load<{ api: Keelson }>("production.ts");
    onTestFinished(() => api.close());
    expect((await read(api)).status).toBe(401);
  });

  it("has an app that administrators see as another user, with an entry per request", async () => {
    const { api } = await guide.load<{ api: Keelson }>("view-as.ts");
    onTestFinished(() => api.close());
    const get = async (path: string, authorization: string) => {
      const response = await api.fetch(new Request(`http://localhost${path}`, { headers: { authorization } }));
      return { status: response.status, json: await response.json() };
    };
    expect((await get("/studio/as/ann/notes", "root")).json).toMatchObject([{ text: "Mine" }]);
    expect((await get("/studio/as/root/notes", "ann")).status).toBe(403);
    expect((await get("/api/audit-entries", "root")).json).toMatchObject([
      { operation: "view-as", actorId: "root", recordId: "ann", action: "GET /notes" },
    ]);
  });

  it("names every option, and existing texts", async () => {
    const named = guide.text.match(/(?<=^\| `)\w+(?=` \|)/gm);
    expect(named).toEqual(membersOf("src/plugins/studio/index.ts", "StudioOptions"));
    const { german } = await guide.load<{ german: Plugin }>("german.ts");
    expect(german.id).toBe("studio");
    const given = /words: \{([^}]+)\}/.exec(guide.text)?.[1] ?? "";
    const keys = [...given.matchAll(/(\w+):/g)].map(([, key]) => key);
    expect(keys.filter((key) => !Object.hasOwn(ENGLISH, key as string))).toEqual([]);
    expect(keys.length).toBeGreaterThan(2);
  });
});
