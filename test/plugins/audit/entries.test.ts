import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, startApp } from "../../support/http.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { auditApp, type Entry } from "./audit-app.ts";

describe.each(SQL_DATABASES)("audit entries on %s", (_, open) => {
  let url: string;
  let api: ReturnType<typeof auditApp>;
  let rows: (sql: string) => Promise<Record<string, unknown>[]>;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const database = await open();
    rows = database.rows;
    api = auditApp(database.driver);
    const app = await startApp(api);
    url = app.url;
    cleanups.push(app.close, database.drop);
  });
  afterAll(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const send = (method: string, path: string, body?: unknown, token = "ann") =>
    request(url, method, `/api${path}`, { token, ...(body === undefined ? {} : { body }) });
  /** Entries of a record, or of an entity, in order of writing. */
  async function entries(query: string): Promise<Entry[]> {
    const { status, json } = await request(url, "GET", `/api/audit-entries?${query}&_limit=1000`, { token: "root" });
    expect(status).toBe(200);
    return json;
  }
  const make = async (body: object): Promise<string> => (await send("POST", "/articles", body)).json.id;
  const total = async (): Promise<number> => (await entries("")).length;

  it("contain the caller, the action, the record, the request, and old and new values", async () => {
    const made = await send("POST", "/articles", { title: "First", publishedAt: "2024-05-31T00:00:00.000Z" });
    const { id } = made.json;
    await send("PATCH", `/articles/${id}`, { title: "Second", views: 0 }, "bob");
    await request(url, "DELETE", `/api/articles/${id}`);
    const [created, updated, deleted, ...more] = await entries(`recordId=${id}`);
    expect(more).toEqual([]);
    expect(created).toMatchObject({
      actorKind: "user",
      actorId: "ann",
      operation: "create",
      action: "create",
      entity: "article",
      requestId: made.headers.get("x-request-id"),
      before: null,
      after: { title: "First", views: 0, publishedAt: "2024-05-31T00:00:00.000Z" },
    });
    expect(created?.changed).toContain("publishedAt");
    expect(updated).toMatchObject({
      actorId: "bob",
      operation: "update",
      changed: ["title"],
      before: { title: "First" },
      after: { title: "Second" },
    });
    expect(deleted).toMatchObject({
      actorKind: "anonymous",
      actorId: null,
      operation: "delete",
      before: { title: "Second", publishedAt: "2024-05-31T00:00:00.000Z" },
      after: null,
    });
    expect(Date.parse(created?.at ?? "")).toBeGreaterThan(Date.now() - 60_000);
  });

  it("are not written without a change, for a refusal, or if no record matches", async () => {
    const id = await make({ title: "Quiet" });
    const { updatedAt } = (await send("GET", `/articles/${id}`)).json;
    const before = await total();
    const nothing = await send("PATCH", `/articles/${id}`, {});
    expect(nothing.json.updatedAt).toBe(updatedAt);
    await send("PATCH", `/articles/${id}`, { title: "Quiet" });
    expect((await send("PATCH", `/articles/${id}`, { title: "" })).status).toBe(400);
    expect((await send("PATCH", "/articles/none", { title: "None" })).status).toBe(404);
    expect((await send("DELETE", "/articles/none")).status).toBe(404);
    expect(await total()).toBe(before);
  });

  it("are written for Keelson's actions, each under its name", async () => {
    const id = await make({ title: "Acted on" });
    await send("POST", `/articles/${id}/archive`);
    await send("POST", `/articles/${id}/archive`);
    await send("POST", `/articles/${id}/toggle-published`);
    await send("DELETE", `/articles/${id}/soft`);
    const [, archived, toggled, deleted, ...more] = await entries(`recordId=${id}`);
    expect(more).toEqual([]);
    expect(archived).toMatchObject({ action: "archive", before: { archived: false }, after: { archived: true } });
    expect(toggled).toMatchObject({ action: "toggle", before: { published: false }, after: { published: true } });
    expect(deleted).toMatchObject({ action: "soft", operation: "update", changed: ["deletedAt"] });
  });

  it("are one for each record of a bulk request, and are rolled back with it", async () => {
    const ids = [await make({ title: "B1" }), await make({ title: "B2" }), await make({ title: "B3" })];
    const before = await total();
    const { json } = await send("PUT", "/articles/bulk", { ids: [...ids, "missing"], data: { views: 3 } });
    expect(json).toEqual({ count: 3 });
    expect(await total()).toBe(before + 3);
    expect((await send("PUT", "/articles/bulk", { ids, data: { title: "" } })).status).toBe(400);
    expect(await total()).toBe(before + 3);
    expect((await send("DELETE", "/articles/bulk", { ids })).json).toEqual({ count: 3 });
    const found = await entries(`recordId=${ids.join("&recordId=")}&action=bulkDelete`);
    expect(found.map(({ operation, before: old }) => [operation, old?.views])).toEqual(ids.map(() => ["delete", 3]));
  });

  it("are one for each imported row", async () => {
    const body = Array.from({ length: 30 }, (_, i) => ({ title: `Imported ${i}` }));
    expect((await send("POST", "/articles/import", body)).json).toMatchObject({ created: 30 });
    const found = await entries("action=import");
    expect(found).toHaveLength(30);
    const dry = await send("POST", "/articles/import?dryRun=true", body);
    expect(dry.status).toBe(200);
    expect(await entries("action=import")).toHaveLength(30);
  });

  it("list the added and removed pairs of a relation", async () => {
    const [one, two] = [
      (await send("POST", "/tags", { name: "1" })).json.id,
      (await send("POST", "/tags", { name: "2" })).json.id,
    ];
    const id = await make({ title: "Tagged", tagsIds: [one] });
    await send("PATCH", `/articles/${id}`, { tagsIds: [two] });
    await send("PATCH", `/articles/${id}`, { tagsIds: [two] });
    const found = (await entries(`recordId=${id}`)).filter(({ operation }) => operation.endsWith("link"));
    expect(found.map(({ operation, changed, before, after }) => [operation, changed, before, after])).toEqual([
      ["link", ["tags"], null, { tags: [one] }],
      ["unlink", ["tags"], { tags: [one] }, null],
      ["link", ["tags"], null, { tags: [two] }],
    ]);
  });

  it("contain the database's own changes to records that refer to a deleted one", async () => {
    const id = await make({ title: "Parent" });
    const first = (await send("POST", "/comments", { text: "c", articleId: id })).json.id;
    const reply = (await send("POST", "/replies", { text: "r", commentId: first })).json.id;
    const mark = (await send("POST", "/bookmarks", { label: "b", articleId: id })).json.id;
    expect((await send("DELETE", `/articles/${id}`)).status).toBe(200);
    const last = async (record: string) => (await entries(`recordId=${record}`)).at(-1);
    expect(await last(first)).toMatchObject({
      operation: "delete",
      actorId: "ann",
      before: { text: "c", articleId: id },
    });
    expect(await last(reply)).toMatchObject({ operation: "delete", before: { text: "r", commentId: first } });
    expect(await last(mark)).toMatchObject({
      operation: "update",
      before: { articleId: id },
      after: { articleId: null },
    });
    expect((await send("GET", `/bookmarks/${mark}`)).json.articleId).toBeNull();
  });

  it("are written for changes through a handler's driver", async () => {
    const answer = await send("POST", "/articles/rewrite");
    expect(answer.json).toEqual({ changed: 2, deleted: 2 });
    const found = await entries("action=rewrite");
    const told = found.map(
      ({ entity, operation, before, after }) => `${entity} ${operation} ${before?.views ?? ""}>${after?.views ?? ""}`,
    );
    expect(told.sort()).toEqual(
      [
        "article create >0",
        "article create >0",
        "article create >0",
        "article update 0>7",
        "article update 0>8",
        "article update 0>8",
        "tag create >",
        "article link >",
        "article unlink >",
        "article delete 7>",
        "article delete 8>",
        "article delete 8>",
      ].sort(),
    );
    expect(new Set(found.map(({ requestId }) => requestId))).toEqual(new Set([answer.headers.get("x-request-id")]));
  });

  it("are visible to all reads within their transaction", async () => {
    const { json } = await send("POST", "/articles/looking");
    expect(json).toEqual({ counted: 1, title: "seen at once" });
    expect(await entries("action=looking")).toHaveLength(1);
  });

  it("are rolled back together with a handler's records", async () => {
    const before = await total();
    expect((await send("POST", "/articles/failing")).status).toBe(500);
    expect(await total()).toBe(before);
    expect((await send("GET", "/articles?title_like=rolled")).json).toEqual([]);
  });

  it("are written for a workflow's steps and compensations, in its caller's name", async () => {
    const done = await send("POST", "/articles/publish", {});
    expect(done.status).toBe(200);
    const kept = (await entries("actorId=ann&entity=article")).slice(-2);
    expect(kept.map(({ operation, after }) => [operation, after?.title ?? after?.views])).toEqual([
      ["create", "by a step"],
      ["update", 5],
    ]);
    expect((await send("POST", "/articles/publish", { fail: true })).status).toBe(409);
    const back = (await entries("entity=article")).slice(-4);
    expect(back.map(({ operation, actorKind }) => `${operation} ${actorKind}`)).toEqual([
      "create user",
      "update user",
      "update system",
      "delete system",
    ]);
  });

  it("name the system when it writes", async () => {
    const made = await api.asSystem().article.create({ title: "By a job" });
    expect(await entries(`recordId=${made.id}`)).toMatchObject([{ actorKind: "system", actorId: null, action: null }]);
  });

  it("are not written for excluded entities, or for the log itself", async () => {
    await send("POST", "/drafts", { text: "no one's business" });
    expect(await entries("entity=draft")).toEqual([]);
    expect(await entries("entity=auditEntry")).toEqual([]);
  });

  it("share a commit with their write: without an entry the write fails", async () => {
    const id = await make({ title: "Safe" });
    const [{ count } = { count: 0 }] = await rows(`SELECT count(*) AS count FROM article`);
    await rows(`ALTER TABLE "auditEntry" RENAME TO "elsewhere"`);
    try {
      expect((await send("POST", "/articles", { title: "Lost" })).status).toBe(500);
      expect((await send("PATCH", `/articles/${id}`, { title: "Lost" })).status).toBe(500);
      expect((await send("DELETE", `/articles/${id}`)).status).toBe(500);
      expect((await send("POST", "/articles/rewrite")).status).toBe(500);
      expect((await send("PATCH", `/articles/${id}`, {})).status).toBe(200);
    } finally {
      await rows(`ALTER TABLE "elsewhere" RENAME TO "auditEntry"`);
    }
    expect((await rows(`SELECT count(*) AS count FROM article`))[0]?.count).toEqual(count);
    expect((await send("GET", `/articles/${id}`)).json.title).toBe("Safe");
  });

  it("form a chain under concurrency: each old value is the previous new one", async () => {
    const id = await make({ title: "Raced", views: 0 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send("PATCH", `/articles/${id}`, { views: i + 1 }, `u${i}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const links = (await entries(`recordId=${id}&operation=update`)).map(({ before, after }) => [
      before?.views,
      after?.views,
    ]);
    expect(links).toHaveLength(20);
    const next = new Map(links as [number, number][]);
    let views = 0;
    for (let i = 0; i < 20; i++) views = next.get(views) as number;
    expect(views).toBe((await send("GET", `/articles/${id}`)).json.views);
  });
});
