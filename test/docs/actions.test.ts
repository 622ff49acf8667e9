import type { InProcessClient, Keelson } from "keelson";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let url = "";
let close: () => Promise<void>;

const post = (path: string, token?: string, body?: unknown) => request(url, "POST", `/api${path}`, { token, body });
const get = (path: string, token?: string) => request(url, "GET", `/api${path}`, { token });

beforeAll(async () => {
  guide = openPage("guides/actions");
  const { api } = await guide.load<{ api: Keelson }>("articles.ts");
  ({ url, close } = await startApp(api));
  const system = api.asSystem() as unknown as InProcessClient<[]> & Record<string, { create(data: object): unknown }>;
  for (const id of ["ann", "eve"]) await system.person?.create({ id, name: id, secret: `secret of ${id}` });
});
afterAll(async () => {
  await close();
  guide.remove();
});

async function newArticle(title = "Keels"): Promise<string> {
  return (await post("/articles", "ann", { title })).json.id;
}

describe("docs/guides/actions.md", () => {
  it("lists the prebuilt actions' real paths and responses", async () => {
    const id = await newArticle();
    const answers = [
      await request(url, "DELETE", `/api/articles/${id}/soft`, { token: "ann" }),
      await post(`/articles/${id}/restore`, "ann"),
      await post(`/articles/${id}/archive`, "ann"),
      await post(`/articles/${id}/unarchive`, "ann"),
      await post(`/articles/${id}/toggle-featured`, "eve"),
      await get(`/articles/${id}/exists`),
      await get(`/articles/count?id=${id}`),
    ].map(({ json }) => json);
    const success = { success: true };
    expect(answers).toEqual([success, success, success, success, { featured: true }, { exists: true }, { count: 1 }]);
    const clone = await post(`/articles/${id}/clone`, "eve");
    expect([clone.status, clone.json.authorId, clone.json.featured]).toEqual([201, "eve", false]);
    const ids = [id, clone.json.id];
    const bulk = { token: "ann", body: { ids, data: { title: "Frames" } } };
    expect((await request(url, "PUT", "/api/articles/bulk", bulk)).json).toEqual({ count: 1 });
    expect((await post("/articles/bulk-delete", "eve", { ids })).json).toEqual({ count: 1 });
  });

  it("shows custom actions: typed input, rule, transaction, thrown error, no leak", async () => {
    const id = await newArticle("A title to find");
    expect((await post(`/articles/${id}/reject`, "ann", { reason: "no" })).status).toBe(403);
    expect((await post(`/articles/${id}/reject`, "eve", { reason: "no" })).json.errors).toHaveProperty("reason");
    expect((await post(`/articles/${id}/reject`, "eve", { reason: "too short" })).json.rejectedFor).toBe("too short");
    expect((await get("/articles/by-title?word=title+to")).json).toMatchObject([{ id }]);
    expect((await get("/articles/by-title?word=t")).status).toBe(400);
    const author = await get(`/articles/${id}/author`);
    expect(author.json).toMatchObject({ id: "ann", name: "ann" });
    expect(JSON.stringify(author.json)).not.toContain("secret");
    const nobody = await post(`/articles/${id}/hand-over`, "ann", { to: "nobody" });
    expect([nobody.status, nobody.json.message]).toEqual([404, "There is no such person"]);
    expect((await post(`/articles/${id}/hand-over`, "ann", { to: "eve" })).json.authorId).toBe("eve");
  });

  it("calls actions in the process", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    await guide.load('from "./articles.ts"');
    expect(log).toHaveBeenCalledWith(true, [expect.objectContaining({ title: "Keels and frames" })]);
    log.mockRestore();
  });
});
