import type { InferCreateInput } from "keelson";
import type { film } from "../entities/film.ts";
import type { MovieRow } from "./movie-row.ts";
import { parseReleaseDate } from "./release-date.ts";
import { unscramble } from "./unscramble.ts";

/** A row with the API's field names. Relations are still names. */
export interface MappedMovie {
  readonly film: InferCreateInput<typeof film>;
  readonly genre: string | null;
  readonly director: string | null;
  readonly distributor: string | null;
  /** The repairs, a phrase each. */
  readonly repairs: readonly string[];
}

/**
 * Maps a row and repairs values that can be repaired with certainty. Other values are passed on unchanged: the API
 * validates them, and a refused row is reported with the API's reason.
 */
export function mapMovie(row: MovieRow): MappedMovie {
  const repairs: string[] = [];
  const film = {
    title: titleOf(row.Title, repairs),
    releaseDate: releaseDateOf(row["Release Date"], repairs),
    mpaaRating: row["MPAA Rating"],
    runningTime: row["Running Time min"],
    productionBudget: row["Production Budget"],
    usGross: row["US Gross"],
    worldwideGross: row["Worldwide Gross"],
    usDvdSales: row["US DVD Sales"],
    imdbRating: row["IMDB Rating"],
    imdbVotes: row["IMDB Votes"],
    rottenTomatoesRating: row["Rotten Tomatoes Rating"],
    source: row.Source,
    creativeType: row["Creative Type"],
  };
  return {
    film: film as MappedMovie["film"], // a claim the API checks
    genre: nameOf(row["Major Genre"]),
    director: directorOf(row.Director, repairs),
    distributor: distributorOf(row.Distributor, repairs),
    repairs,
  };
}

function titleOf(value: unknown, repairs: string[]): unknown {
  if (typeof value === "number") {
    repairs.push(`title: the number ${value} became text`);
    return String(value);
  }
  if (typeof value !== "string") return value;
  const title = unscramble(value);
  if (title !== value) repairs.push(`title: "${value}" became "${title}"`);
  return title;
}

function releaseDateOf(value: unknown, repairs: string[]): unknown {
  const found = typeof value === "string" ? parseReleaseDate(value) : undefined;
  if (found === undefined) return value;
  if (found.writtenYear !== undefined)
    repairs.push(`release date: ${found.writtenYear} became ${found.date.getUTCFullYear()}`);
  return found.date;
}

/** Quotes are doubled in parts of the data set that went through CSV. */
function directorOf(value: unknown, repairs: string[]): string | null {
  const name = nameOf(value);
  const unquoted = name?.replaceAll('""', '"') ?? null;
  if (unquoted !== name) repairs.push(`director: ${name} became ${unquoted}`);
  return unquoted;
}

function distributorOf(value: unknown, repairs: string[]): string | null {
  if (value !== "Distributor Unknown") return nameOf(value);
  repairs.push(`distributor: "${value}" became none`);
  return null;
}

function nameOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
