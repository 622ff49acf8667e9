import { describe, expect, it } from "vitest";
import { mapMovie } from "../../examples/films/import/map-movie.ts";
import { readMovies } from "../../examples/films/import/movie-row.ts";
import { parseReleaseDate } from "../../examples/films/import/release-date.ts";
import { unscramble } from "../../examples/films/import/unscramble.ts";

const rows = await readMovies();

describe("release dates", () => {
  it("are midnight UTC of the day", () => {
    expect(parseReleaseDate("Jun 12 1998")).toEqual({ date: new Date("1998-06-12") });
  });

  it("are moved back a century after the last year of the data", () => {
    expect(parseReleaseDate("Dec 23 2011")).toEqual({ date: new Date("2011-12-23") });
    expect(parseReleaseDate("Nov 21 2046")).toEqual({ date: new Date("1946-11-21"), writtenYear: 2046 });
  });

  it.each(["Feb 30 1999", "Foo 01 1999", "1999", "Jun 1 1998", ""])("are not guessed from %j", (text) => {
    expect(parseReleaseDate(text)).toBeUndefined();
  });

  it("of all rows lie between 1915 and 2011", () => {
    const years = rows.map((row) => parseReleaseDate(row["Release Date"] as string)?.date.getUTCFullYear() ?? 0);
    expect(Math.min(...years)).toBe(1915);
    expect(Math.max(...years)).toBe(2011);
  });
});

describe("titles", () => {
  it("have their accents restored", () => {
    const accented = rows.map((row) => String(row.Title)).filter((title) => unscramble(title) !== title);
    expect(accented.map(unscramble)).toEqual([
      "Astérix aux Jeux Olympiques",
      "De battre mon coeur s'est arrêté",
      "Les Bronzés 3: amis pour la vie",
      "Per qualche dollaro in più",
      "I Love You … Don't Touch Me!",
      "The Naked Gun 2½: The Smell of Fear",
      "Léon",
      "Le Fabuleux destin d'Amélie Poulain",
      "Aimée & Jaguar",
      "La mala educación",
      "Caché",
      "Die Fälscher",
      "Déjà Vu",
      "Indigènes",
      "Obsluhoval jsem anglického krále",
      "La Môme",
      "Joyeux Noël",
      "Molière",
    ]);
  });

  it("are unchanged if their encoding was damaged in another way", () => {
    expect(unscramble("Alien³")).toBe("Alien³");
    expect(unscramble("Ri¢hie Ri¢h")).toBe("Ri¢hie Ri¢h");
  });

  it("that are numbers become text, with a note", () => {
    const { film, repairs } = mapMovie({ Title: 1776, "Release Date": "Nov 09 1972" });
    expect(film.title).toBe("1776");
    expect(repairs).toEqual(["title: the number 1776 became text"]);
  });
});

describe("a mapped row", () => {
  it("has no note if it needs no repair", () => {
    expect(mapMovie(rows[0] ?? {}).repairs).toEqual([]);
  });

  it("keeps what cannot be repaired, so that the API refuses it", () => {
    const { film, repairs } = mapMovie({ Title: null, "Release Date": "soon" });
    expect(film).toMatchObject({ title: null, releaseDate: "soon" });
    expect(repairs).toEqual([]);
  });

  it("has plain quotes in names, and no unknown distributor", () => {
    const mapped = mapMovie({ Title: "x", Director: 'Jeff ""King Jeff"" Hollins', Distributor: "Distributor Unknown" });
    expect(mapped).toMatchObject({ director: 'Jeff "King Jeff" Hollins', distributor: null });
    expect(mapped.repairs).toHaveLength(2);
  });

  it("is not a duplicate of another row", () => {
    const keys = rows.map(mapMovie).map(({ film }) => JSON.stringify([film.title, film.releaseDate]));
    expect(new Set(keys).size).toBe(rows.length);
  });
});
