import { expect, it, onTestFinished } from "vitest";
import { countAction, defineRule, entity, int, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { SQL_DATABASES } from "../support/sql-databases.ts";

// Columns of existing tables may treat "ann" and "ANN" as equal. Rules compare ids exactly.

const mine = defineRule("etMine", ({ user }) => ({ author: String(user?.id) }));
const note = entity("note", { author: string.unique(), text: string })
  .id(int)
  .timestamps(false)
  .existing()
  .rules({ read: ["admin", mine], update: [mine], delete: [mine] })
  .actions({ count: countAction() });

/** Tables whose authors are equal in any case, by database. */
const TABLES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  SQLite: [
    [`create table note (id integer primary key not null, author text collate nocase not null, text text not null)`],
  ],
  PostgreSQL: [
    [
      `create extension if not exists citext`,
      `create table note (id serial primary key, author citext not null, text text not null)`,
    ],
    [
      `create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
      `create table note (id serial primary key, author text collate any_case not null, text text not null)`,
    ],
  ],
};
const cases = SQL_DATABASES.flatMap(([name, open]) => (TABLES[name] ?? []).map((made) => [name, open, made] as const));

it.each(cases)(
  "an existing table of %s that ignores case is read and written by exact values",
  async (_, open, made) => {
    const database = await open();
    onTestFinished(() => database.drop());
    const authors = ["ann", "Bob", "carl"];
    const rows = authors.map((author) => `('${author}', 'of ${author}')`);
    for (const statement of [...made, `insert into note (author, text) values ${rows.join(", ")}`])
      await database.rows(statement);
    const app = createTestApp({ entities: [note], driver: database.driver });
    onTestFinished(() => app.close());
    await app.api.ready;

    const own = await app.as({ id: "ann" }).request("GET", "/api/notes");
    expect(own.body).toEqual([{ id: 1, author: "ann", text: "of ann" }]);
    const stranger = app.as({ id: "ANN" });
    expect((await stranger.request("GET", "/api/notes")).body).toEqual([]);
    for (const [method, body] of [["GET"], ["PATCH", { text: "changed" }], ["DELETE"]] as const)
      expect.soft(await stranger.request(method, "/api/notes/1", body), method).toMatchObject({ status: 403 });
    expect(await app.api.driver.count("note", { text: "of ann" })).toBe(1);

    const root = app.as({ id: "root", role: "admin" });
    const found = async (query: string): Promise<unknown> => {
      const { body } = await root.request("GET", `/api/notes?${query}`);
      return (body as { readonly author: string }[]).map(({ author }) => author);
    };
    expect(await found("author=ANN")).toEqual([]);
    expect(await found("author=ANN&author=Bob")).toEqual(["Bob"]);
    expect(await found("author_ne=ANN&_sort=author")).toEqual(["Bob", "ann", "carl"]);
    expect(await found("author_like=AN")).toEqual(["ann"]);
    expect((await root.request("GET", "/api/notes/count?author_gt=Z")).body).toEqual({ count: 2 });
  },
);
