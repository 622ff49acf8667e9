import { deepStrictEqual, match, notStrictEqual, ok } from "node:assert/strict";
import type { Check } from "./check.ts";
import { type Post, postCount } from "./model.ts";
import { authorIndex, postId, seedPost, tokenOf, userId } from "./seed.ts";
import { bulkPath, jsonHeaders } from "./workloads.ts";

const isoDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const subject = 4_321;
const owner = authorIndex(subject);
const unknownId = postId(999_999_999);
const valid = { title: "A new post", body: "Its body." };
const anonymous = { "content-type": "application/json" };

// Somebody who is not the owner of `subject`, and the posts that are theirs.
const other = 11;
const own = Array.from({ length: postCount }, (_, index) => index).filter((index) => authorIndex(index) === other);

const bulkBody = (data: unknown): string =>
  JSON.stringify({ ids: [...own.map(postId), postId(subject), unknownId], data });

/** Writing, and the refusals that go with it; the key says what is checked, and begins with the workload. */
export const writeChecks: Readonly<Record<string, Check>> = {
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
  async "bulk without a token is 401"(ask) {
    await ask(401, bulkPath, "PUT", anonymous, bulkBody({ title: "Nobody's" }));
  },
  async "bulk refuses an invalid body with 400"(ask) {
    await ask(400, bulkPath, "PUT", jsonHeaders(other), bulkBody({ title: 42 }));
  },
  async "bulk changes the caller's records and leaves the others alone"(ask) {
    notStrictEqual(owner, other);
    const before = await ask(200, `/api/posts/${postId(subject)}`);
    const title = "Changed together";
    const answer = await ask(200, bulkPath, "PUT", jsonHeaders(other), bulkBody({ title }));
    deepStrictEqual(answer, { count: own.length });
    for (const index of own) {
      const post = (await ask(200, `/api/posts/${postId(index)}`)) as Post;
      ok(post.updatedAt > seedPost(index).updatedAt, "updatedAt did not move");
      deepStrictEqual(post, { ...seedPost(index), title, updatedAt: post.updatedAt });
    }
    deepStrictEqual(await ask(200, `/api/posts/${postId(subject)}`), before);
  },
};
