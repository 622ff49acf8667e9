import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { parse } from "csv-parse/sync";
import type { Check } from "./check.ts";
import { invoiceCount, type Post } from "./model.ts";
import { authorIndex, postId, seedCustomer, seedInvoice, seedPost, seedPosts, seedUser, userId } from "./seed.ts";
import { countPath, exportPath, listPath, listTotalPath, remotePath } from "./workloads.ts";

const posts = seedPosts();
const upTo = 12_345;
const subject = 4_321;
const unknownId = postId(999_999_999);

const listed = (): Post[] =>
  posts.filter((post) => post.published && post.views <= upTo).sort((a, b) => b.views - a.views);

const expectedPage = (): Post[] => listed().slice(20, 40);

/** Reading, from the table as it was filled; the key says what is checked, and begins with the workload. */
export const readChecks: Readonly<Record<string, Check>> = {
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
  async "count answers the number of matching records"(ask) {
    const author = userId(authorIndex(subject));
    const count = posts.filter((post) => post.published && post.authorId === author).length;
    deepStrictEqual(await ask(200, countPath(author)), { count });
  },
  async "listTotal tells the number of all matching records"(ask) {
    const { headers, text } = await ask.plain(200, listTotalPath(upTo));
    deepStrictEqual(JSON.parse(text), expectedPage());
    strictEqual(headers.get("x-total-count"), String(listed().length));
  },
  async "export answers every record as CSV"(ask) {
    const { headers, text } = await ask.plain(200, exportPath);
    match(headers.get("content-type") ?? "", /^text\/csv/);
    const rows = parse(text, { columns: true }) as Record<string, string>[];
    const expected = posts.map(({ published, views, ...post }) => ({
      ...post,
      published: String(published),
      views: String(views),
    }));
    deepStrictEqual(rows, expected);
  },
  async "remote joins each invoice with its customer of the other service"(ask) {
    for (const start of [0, 731, invoiceCount - 100]) {
      const expected = Array.from({ length: 100 }, (_, place) => {
        const invoice = seedInvoice(start + place);
        return { ...invoice, customer: seedCustomer(Number(invoice.customerId.slice(-12))) };
      });
      deepStrictEqual(await ask(200, remotePath(start)), expected);
    }
  },
};
