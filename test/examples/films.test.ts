import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { fieldSecurity, generateEncryptionKey, keelson, memoryDriver, noopLogger } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPeople } from "../../examples/films/add-people.ts";
import { createFilms, type FilmsApi } from "../../examples/films/api.ts";
import { director } from "../../examples/films/entities/director.ts";
import { distributor } from "../../examples/films/entities/distributor.ts";
import { film } from "../../examples/films/entities/film.ts";
import { genre } from "../../examples/films/entities/genre.ts";
import { review } from "../../examples/films/entities/review.ts";
import { user } from "../../examples/films/entities/user.ts";
import { importFilms, isImported } from "../../examples/films/import/import-films.ts";
import type { ImportReport } from "../../examples/films/import/import-report.ts";
import { type MovieRow, readMovies } from "../../examples/films/import/movie-row.ts";
import { SIGN_TOKEN } from "../../examples/films/login.ts";
import { people } from "../../examples/films/people.ts";
import { createSigner } from "../../examples/films/tokens.ts";

const rows = await readMovies();
const directory = await mkdtemp(join(tmpdir(), "keelson-films-"));
const file = join(directory, "films.db");
let api: FilmsApi;
let report: ImportReport;

const secrets = { tokens: "a secret of this test, long enough", encryption: generateEncryptionKey() };
const passwords = { ada: "the first programmer", grace: "nanoseconds of wire" };
const ONE_AT_A_TIME = { concurrency: 1, queue: 0 };
const sign = createSigner(secrets.tokens);
const tokens = new Map(await Promise.all(people.map(async (person) => [person.id, await sign(person)] as const)));

async function open(path: string): Promise<FilmsApi> {
  const films = createFilms({ file: path, secrets, logger: noopLogger });
  await addPeople(films, passwords);
  return films;
}

async function request(method: string, path: string, person?: (typeof people)[number]["id"], body?: unknown) {
  const response = await api.fetch(
    new Request(`http://films.test${path}`, {
      method,
      headers: {
        ...(person && { authorization: `Bearer ${tokens.get(person)}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The database's own result, queried directly. */
async function sql(query: string): Promise<unknown[][]> {
  const connection = await new PrismaLibSql({ url: `file:${file}` }).connect();
  try {
    return (await connection.queryRaw({ sql: query, args: [], argTypes: [] })).rows;
  } finally {
    await connection.dispose();
  }
}

beforeAll(async () => {
  api = await open(file);
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

  it("reports the row that the API refuses, with its reason", () => {
    expect(report.rejected).toEqual([{ row: 3054, title: "(no title)", reason: "title is required" }]);
  });

  it("reports its repairs", () => {
    // 22 years, 9 numbers and 18 accented titles, one name with doubled quotes, one unknown distributor.
    expect(report.repaired).toHaveLength(51);
    expect(report.repaired[0]).toEqual({ row: 10, title: "Duel in the Sun", reason: "release date: 2046 became 1946" });
  });

  it("stores what it reports", async () => {
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
  it("is completed by the next one", async () => {
    const other = await open(join(directory, "interrupted.db"));
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
    const other = await open(join(directory, "bad.db"));
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

  it("allow a person one review per film, in their own name", async () => {
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

  it("keep the catalogue to admins, and delete a film's reviews with it", async () => {
    const id = await filmId("Gigli");
    expect((await request("DELETE", `/api/films/${id}`)).status).toBe(401);
    expect((await request("DELETE", `/api/films/${id}`, "ada")).status).toBe(403);
    expect((await request("DELETE", `/api/films/${id}`, "grace")).status).toBe(200);
    expect(await sql(`select count(*) from review where filmId = '${id}'`)).toEqual([[0]]);
  });

  it("do not allow a person to become an admin", async () => {
    const { status, body } = await request("PATCH", "/api/users/ada", "ada", { name: "Ada L.", role: "admin" });
    expect([status, body.name, body.role]).toEqual([200, "Ada L.", "person"]);
    expect((await request("PATCH", "/api/users/grace", "ada", { name: "Ada" })).status).toBe(403);
  });
});

describe("the login", () => {
  const logIn = (email: unknown, password: unknown) =>
    request("POST", "/api/users/login", undefined, { email, password });

  it("returns a token that identifies the caller", async () => {
    const { status, body } = await logIn(" Ada@Films.example ", passwords.ada);
    expect([status, Object.keys(body)]).toEqual([200, ["token"]]);
    tokens.set("ada", body.token);
    expect((await request("PATCH", "/api/users/ada", "ada", { name: "Ada" })).status).toBe(200);
    expect((await request("PATCH", "/api/users/grace", "ada", { name: "Ada" })).status).toBe(403);
  });

  it("does not reveal what is wrong", async () => {
    const { requestId: _, ...refused } = (await logIn("ada@films.example", "wrong")).body;
    expect(refused).toMatchObject({ code: "UNAUTHENTICATED", message: "E-mail or password is wrong" });
    const attempts: [unknown, unknown][] = [
      ["nobody@films.example", passwords.ada],
      ["grace@films.example", passwords.ada],
      ["ada@films.example", passwords.ada.toUpperCase()],
    ];
    for (const [email, password] of attempts) {
      const { status, headers, body } = await logIn(email, password);
      expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(body).toEqual({ ...refused, requestId: body.requestId });
    }
  });

  it("accepts only texts for both", async () => {
    const attempts: [unknown, unknown][] = [
      ["ada@films.example", undefined],
      [undefined, passwords.ada],
      [{ like: "%" }, [passwords.ada]],
      ["ada@films.example", "x".repeat(5_000)],
    ];
    for (const [email, password] of attempts) {
      const { status, body } = await logIn(email, password);
      expect([status, body.code]).toEqual([400, "VALIDATION_FAILED"]);
      expect(JSON.stringify(body)).not.toContain(passwords.ada);
    }
  });

  it("accepts a new password from its owner, and no hash in its place", async () => {
    const [[hash] = []] = await sql("select password from user where id = 'ada'");
    expect(hash).toMatch(/^\$pbkdf2\$256000\$/);
    expect((await request("PATCH", "/api/users/ada", "grace", { password: "short" })).status).toBe(400);
    expect((await request("PATCH", "/api/users/ada", "ada", { password: hash })).status).toBe(200);
    expect((await logIn("ada@films.example", passwords.ada)).status).toBe(401);
    expect((await logIn("ada@films.example", hash)).status).toBe(200);
  });
});

describe("the login of an app that hashes one password at a time", () => {
  it("responds with 503 beyond its capacity, whether or not the user exists", async () => {
    const busy = keelson({
      entities: [user, review, film, genre, director, distributor],
      driver: memoryDriver(),
      encryption: { key: secrets.encryption },
      logger: noopLogger,
      plugins: (defaults) =>
        defaults.replace(
          "field-security",
          fieldSecurity({ encryption: { key: secrets.encryption }, passwords: ONE_AT_A_TIME }),
        ),
      services: { [SIGN_TOKEN]: () => sign },
    });
    const logIn = (email: string) =>
      busy.fetch(
        new Request("http://films.test/api/users/login", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ email, password: "guess" }),
        }),
      );
    await busy.asSystem().user.create({ ...people[0], password: passwords.ada });
    for (const email of ["ada@films.example", "nobody@films.example"]) {
      const [first, second] = await Promise.all([logIn(email), logIn(email)]);
      expect([first.status, second.status]).toEqual([401, 503]);
      expect(second.headers.get("retry-after")).toMatch(/^\d+$/);
    }
    await busy.close();
  });
});

describe("the note of a review", () => {
  it("is shown to its author only, and is ciphertext in the database", async () => {
    const { body } = await request("GET", "/api/films?title=Alien&_limit=1");
    const review = { filmId: body[0].id, stars: 5, text: "Twice.", note: "Seen with Grace, who slept." };
    const created = await request("POST", "/api/reviews", "ada", review);
    expect([created.status, created.body.note]).toEqual([201, review.note]);
    const { id } = created.body;
    expect((await request("GET", `/api/reviews/${id}`, "ada")).body.note).toBe(review.note);
    for (const person of [undefined, "grace"] as const) {
      expect((await request("GET", `/api/reviews/${id}`, person)).body).not.toHaveProperty("note");
      const [listed] = (await request("GET", `/api/reviews?id=${id}`, person)).body;
      expect([listed.text, "note" in listed]).toEqual(["Twice.", false]);
    }
    expect((await request("GET", "/api/reviews?note=x", "ada")).status).toBe(400);
    const [[stored] = []] = await sql(`select note from review where id = '${id}'`);
    expect(stored).toMatch(/^v1:[A-Za-z0-9+/]+=*$/);
  });
});

describe("the people", () => {
  it("show names to all, addresses to themselves and admins, and passwords to no one", async () => {
    const seen = async (person?: "ada" | "grace") => (await request("GET", "/api/users/grace", person)).body;
    for (const profile of [await seen(), await seen("ada"), await seen("grace")]) {
      expect(profile.name).toBe("Grace");
      expect(profile).not.toHaveProperty("password");
    }
    expect([await seen(), await seen("ada")].map((profile) => "email" in profile)).toEqual([false, false]);
    expect((await seen("grace")).email).toBe("grace@films.example");
    expect((await request("GET", "/api/users/ada", "grace")).body.email).toBe("ada@films.example");
  });
});
