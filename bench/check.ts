import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Contender } from "./contenders.ts";
import type { Post } from "./model.ts";
import { authorIndex, postId, seedPost, seedPosts, seedUser, tokenOf, userId } from "./seed.ts";
import { countPath, jsonHeaders, listPath } from "./workloads.ts";

const posts = seedPosts();
const isoDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const upTo = 12_345;
const subject = 4_321;
const owner = authorIndex(subject);
const unknownId = postId(999_999_999);

function expectedPage(): Post[] {
  return posts
    .filter((post) => post.published && post.views <= upTo)
    .sort((a, b) => b.views - a.views)
    .slice(20, 40);
}

type Ask = (
  status: number,
  path: string,
  method?: "POST" | "PUT",
  headers?: Record<string, string>,
  body?: string,
) => Promise<unknown>;

function asker(port: number): Ask {
  return async (status, path, method, headers, body) => {
    const init = { method: method ?? "GET", ...(headers && { headers }), ...(body !== undefined && { body }) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = await response.text();
    strictEqual(
      response.status,
      status,
      `${init.method} ${path} answered ${response.status}, expected ${status}: ${text.slice(0, 300)}`,
    );
    match(response.headers.get("content-type") ?? "", /^application\/json/, `${path} did not answer JSON`);
    return JSON.parse(text) as unknown;
  };
}

const valid = { title: "A new post", body: "Its body." };
const anonymous = { "content-type": "application/json" };

/** One check per promise that a contender makes; the key says what is checked. */
const checks: Record<string, (ask: Ask) => Promise<void>> = {
  async "get answers the record"(ask) {
    deepStrictEqual(await ask(200, `/api/posts/${postId(subject)}`), seedPost(subject));
  },
  async "get of an unknown id is 404"(ask) {
    await ask(404, `/api/posts/${unknownId}`);
  },
  async "list answers the right 20 records in the right order"(ask) {
    deepStrictEqual(await ask(200, listPath(upTo)), expectedPage());
  },
  async "list refuses a value of the wrong type with 400"(ask) {
    await ask(400, listPath(upTo).replace(String(upTo), "many"));
  },
  async "include attaches the author"(ask) {
    const expected = expectedPage().map((post) => ({ ...post, author: seedUser(Number(post.authorId.slice(-12))) }));
    deepStrictEqual(await ask(200, `${listPath(upTo)}&include=author`), expected);
  },
  async "create without a known token is 401"(ask) {
    await ask(401, "/api/posts", "POST", anonymous, JSON.stringify(valid));
    await ask(401, "/api/posts", "POST", { ...anonymous, authorization: "Bearer nobody" }, JSON.stringify(valid));
  },
  async "create refuses an invalid body with 400"(ask) {
    await ask(400, "/api/posts", "POST", jsonHeaders(7), JSON.stringify({ title: 42, body: "Its body." }));
    await ask(400, "/api/posts", "POST", jsonHeaders(7), JSON.stringify({ body: "No title." }));
    await ask(400, "/api/posts", "POST", jsonHeaders(7), "{ not JSON");
  },
  async "create stores the record and makes the caller its author"(ask) {
    const created = (await ask(
      201,
      "/api/posts",
      "POST",
      jsonHeaders(7),
      JSON.stringify({ ...valid, published: true }),
    )) as Post;
    const { id, createdAt, updatedAt, ...rest } = created;
    deepStrictEqual(rest, { ...valid, published: true, views: 0, authorId: userId(7) });
    ok(typeof id === "string" && id.length > 0, "no id");
    match(createdAt, isoDate);
    match(updatedAt, isoDate);
    deepStrictEqual(await ask(200, `/api/posts/${id}`), created);
  },
  async "update without a token is 401"(ask) {
    await ask(401, `/api/posts/${postId(subject)}`, "PUT", anonymous, JSON.stringify(valid));
  },
  async "update by somebody else is 403"(ask) {
    notStrictEqual(owner, 7);
    await ask(
      403,
      `/api/posts/${postId(subject)}`,
      "PUT",
      { ...anonymous, authorization: `Bearer ${tokenOf(7)}` },
      JSON.stringify(valid),
    );
    deepStrictEqual(await ask(200, `/api/posts/${postId(subject)}`), seedPost(subject));
  },
  async "update of an unknown id is 404"(ask) {
    await ask(404, `/api/posts/${unknownId}`, "PUT", jsonHeaders(owner), JSON.stringify(valid));
  },
  async "update refuses an invalid body with 400"(ask) {
    await ask(400, `/api/posts/${postId(subject)}`, "PUT", jsonHeaders(owner), JSON.stringify({ title: 42 }));
  },
  async "update by the owner changes title and body and nothing else"(ask) {
    const before = seedPost(subject);
    const updated = (await ask(
      200,
      `/api/posts/${postId(subject)}`,
      "PUT",
      jsonHeaders(owner),
      JSON.stringify(valid),
    )) as Post;
    match(updated.updatedAt, isoDate);
    ok(updated.updatedAt > before.updatedAt, "updatedAt did not move");
    deepStrictEqual(updated, { ...before, ...valid, updatedAt: updated.updatedAt });
    deepStrictEqual(await ask(200, `/api/posts/${postId(subject)}`), updated);
  },
  async "count answers the number of matching records"(ask) {
    const author = userId(owner);
    const count = posts.filter((post) => post.published && post.authorId === author).length;
    deepStrictEqual(await ask(200, countPath(author)), { count });
  },
};

/**
 * Asks a contender everything that will be measured and the refusals that go with it.
 * @throws Error that names the contender and the check, at the first answer that is not right
 */
export async function checkAnswers(contender: Contender, port: number): Promise<void> {
  const ask = asker(port);
  for (const [name, check] of Object.entries(checks)) {
    const workload = name.split(" ")[0] as keyof NonNullable<Contender["lacks"]>;
    if (contender.lacks?.[workload] !== undefined) continue;
    try {
      await check(ask);
    } catch (error) {
      throw new Error(`${contender.id}: "${name}" does not hold. ${(error as Error).message}`, { cause: error });
    }
  }
}
