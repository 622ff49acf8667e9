import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { noopLogger } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFilms, type FilmsApi } from "../../examples/films/api.ts";
import { importFilms, isImported } from "../../examples/films/import/import-films.ts";
import type { ImportReport } from "../../examples/films/import/import-report.ts";
import { type MovieRow, readMovies } from "../../examples/films/import/movie-row.ts";
import { people } from "../../examples/films/people.ts";

const rows = await readMovies();
const directory = await mkdtemp(join(tmpdir(), "keelson-films-"));
const file = join(directory, "films.db");
let api: FilmsApi;
let report: ImportReport;

function open(path: string): FilmsApi {
  const getUser = (request: { headers: { get(name: string): string | null } }) =>
    people.find(({ id }) => id === request.headers.get("x-person")) ?? null;
  return createFilms({ file: path, getUser, logger: noopLogger });
}

async function request(method: string, path: string, person?: string, body?: unknown) {
  const response = await api.fetch(
    new Request(`http://films.test${path}`, {
      method,
      headers: {
        ...(person && { "x-person": person }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The database's own opinion, past the framework. */
async function sql(query: string): Promise<unknown[][]> {
  const connection = await new PrismaLibSql({ url: `file:${file}` }).connect();
  try {
    return (await connection.queryRaw({ sql: query, args: [], argTypes: [] })).rows;
  } finally {
    await connection.dispose();
  }
}

beforeAll(async () => {
  api = open(file);
  report = await importFilms(api, rows);
});

afterAll(async () => {
  await api.close();
  await rm(directory, { recursive: true });
});

describe("the import", () => {
  it("accounts for every row", () => {
    expect(report.rows).toBe(3201);
    expect(report.imported + report.rejected.length).toBe(3201);
  });

  it("reports the row it cannot take, with the API's reason", () => {
    expect(report.rejected).toEqual([{ row: 3054, title: "(no title)", reason: "title is required" }]);
  });

  it("reports what it put right", () => {
    // 22 years, 9 numbers and 18 accented titles, one name with doubled quotes, one unknown distributor.
    expect(report.repaired).toHaveLength(51);
    expect(report.repaired[0]).toEqual({ row: 10, title: "Duel in the Sun", reason: "release date: 2046 became 1946" });
  });

  it("stores what it says", async () => {
    expect(await sql("select count(*) from film")).toEqual([[report.imported]]);
    expect(await isImported(api)).toBe(true);
  });

  it("imports nothing twice", async () => {
    const counts = "select (select count(*) from film), (select count(*) from director), (select count(*) from review)";
    const before = await sql(counts);
    expect(await importFilms(api, rows)).toEqual(report);
    expect(await sql(counts)).toEqual(before);
  });
});

describe("an import that is interrupted", () => {
  it("is finished by the next one", async () => {
    const other = open(join(directory, "interrupted.db"));
    const some = rows.slice(0, 300);
    const interrupt = (done: number): void => {
      if (done === 120) throw new RangeError("interrupted");
    };
    await expect(importFilms(other, some, { onProgress: interrupt })).rejects.toThrow("interrupted");
    expect(await isImported(other)).toBe(false);
    const { imported, rejected } = await importFilms(other, some);
    expect({ imported, rejected }).toEqual({ imported: 300, rejected: [] });
    expect(await other.asSystem().film.count()).toBe(300);
    expect(await isImported(other)).toBe(true);
    await other.close();
  });
});

describe("a bad row", () => {
  const good = { Title: "Good", "Release Date": "Jan 02 1999" };
  const cases: [string, MovieRow, RegExp][] = [
    ["no title", { ...good, Title: null }, /^title /],
    ["a date that does not exist", { ...good, "Release Date": "Feb 30 1999" }, /^releaseDate /],
    ["a rating beyond the scale", { ...good, "IMDB Rating": 11 }, /^imdbRating .*10/],
    ["votes that are text", { ...good, "IMDB Votes": "many" }, /^imdbVotes /],
    ["an unheard-of audience rating", { ...good, "MPAA Rating": "PG-99" }, /^mpaaRating /],
    ["the title and day of another row", good, /row 1 /],
  ];

  it("is rejected with its reason, and the rest is imported", async () => {
    const other = open(join(directory, "bad.db"));
    const bad = cases.map(([name, row]): MovieRow => (row === good ? row : { ...row, Title: row.Title && name }));
    const { imported, rejected } = await importFilms(other, [good, ...bad]);
    expect(imported).toBe(1);
    expect(rejected.map(({ row }) => row)).toEqual(cases.map((_, index) => index + 2));
    for (const [index, [, , reason]] of cases.entries()) expect(rejected[index]?.reason).toMatch(reason);
    await other.close();
  });
});

describe("the list of good dramas", () => {
  const path =
    "/api/films?imdbRating_gte=8&genre.name=Drama&_sort=-imdbRating&_limit=5&include=director,reviews.author";

  it("agrees with SQL, with directors, reviews and their authors", async () => {
    const { status, headers, body } = await request("GET", path);
    const matching = "from film f join genre g on g.id = f.genreId where f.imdbRating >= 8 and g.name = 'Drama'";
    const films = await sql(
      `select f.id, f.title, f.imdbRating, d.name ${matching.replace(" where", " left join director d on d.id = f.directorId where")}
       order by f.imdbRating desc, f.id limit 5`,
    );
    expect(status).toBe(200);
    expect(body.map((film: Film) => [film.id, film.title, film.imdbRating, film.director?.name ?? null])).toEqual(
      films,
    );
    expect(headers.get("x-total-count")).toBe(String((await sql(`select count(*) ${matching}`))[0]?.[0]));
    const reviews = await sql(
      `select r.filmId, r.stars, u.name from review r join user u on u.id = r.authorId
       where r.filmId in (${films.map(([id]) => `'${id}'`)}) order by r.id`,
    );
    const included = body.flatMap((film: Film) =>
      film.reviews.map(({ stars, author }) => [film.id, stars, author.name]),
    );
    expect(reviews.length).toBeGreaterThan(0);
    expect(included.sort()).toEqual(reviews.sort());
  });

  it("counts the films of every genre as the data set does", async () => {
    const inSource = new Map<string, number>();
    for (const row of rows) {
      const genre = row["Major Genre"] as string | null;
      if (genre !== null && row.Title !== null) inSource.set(genre, (inSource.get(genre) ?? 0) + 1);
    }
    const stored = await sql("select g.name, count(*) from film f join genre g on g.id = f.genreId group by g.name");
    expect(new Map(stored as [string, number][])).toEqual(inSource);
    for (const [name, count] of inSource) {
      const { headers } = await request("GET", `/api/films?genre.name=${encodeURIComponent(name)}&_limit=1`);
      expect([name, headers.get("x-total-count")]).toEqual([name, String(count)]);
    }
  });

  it("keeps sums that do not fit into 32 bits", async () => {
    const { body } = await request("GET", "/api/films?_sort=-worldwideGross&_limit=1&select=title,worldwideGross");
    expect(body).toEqual([{ id: expect.any(String), title: "Avatar", worldwideGross: 2767891499 }]);
  });
});

interface Film {
  readonly id: string;
  readonly title: string;
  readonly imdbRating: number;
  readonly director: { readonly name: string } | null;
  readonly reviews: readonly { readonly stars: number; readonly author: { readonly name: string } }[];
}

describe("the rules", () => {
  const filmId = async (title: string): Promise<string> => {
    const { body } = await request("GET", `/api/films?title=${encodeURIComponent(title)}&select=title`);
    return body[0].id;
  };

  it("let a person write one review per film, in the own name", async () => {
    const review = { filmId: await filmId("Jaws"), stars: 4, text: "The shark is late, which is the point." };
    expect((await request("POST", "/api/reviews", undefined, review)).status).toBe(401);
    expect((await request("POST", "/api/reviews", "ada", { ...review, authorId: "grace" })).status).toBe(403);
    const created = await request("POST", "/api/reviews", "ada", review);
    expect([created.status, created.body.authorId]).toEqual([201, "ada"]);
    expect((await request("POST", "/api/reviews", "ada", review)).status).toBe(409);
    expect((await request("PATCH", `/api/reviews/${created.body.id}`, "grace", { stars: 1 })).status).toBe(403);
    expect((await request("PATCH", `/api/reviews/${created.body.id}`, "ada", { stars: 5 })).body.stars).toBe(5);
    expect((await request("DELETE", `/api/reviews/${created.body.id}`, "grace")).status).toBe(200);
  });

  it("keep the catalogue to admins, and take a film's reviews with it", async () => {
    const id = await filmId("Gigli");
    expect((await request("DELETE", `/api/films/${id}`)).status).toBe(401);
    expect((await request("DELETE", `/api/films/${id}`, "ada")).status).toBe(403);
    expect((await request("DELETE", `/api/films/${id}`, "grace")).status).toBe(200);
    expect(await sql(`select count(*) from review where filmId = '${id}'`)).toEqual([[0]]);
  });

  it("do not let a person become an admin", async () => {
    const { status, body } = await request("PATCH", "/api/users/ada", "ada", { name: "Ada L.", role: "admin" });
    expect([status, body.name, body.role]).toEqual([200, "Ada L.", "person"]);
    expect((await request("PATCH", "/api/users/grace", "ada", { name: "Ada" })).status).toBe(403);
  });
});
