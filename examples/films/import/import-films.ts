import { type FieldErrors, ValidationFailedError } from "keelson";
import type { FilmsApi } from "../api.ts";
import { grace } from "../people.ts";
import { openDirectory } from "./directory.ts";
import { everyPage } from "./every-page.ts";
import type { ImportReport, RowNote } from "./import-report.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { type MappedMovie, mapMovie } from "./map-movie.ts";
import { type MovieRow, SOURCE } from "./movie-row.ts";
import { REVIEWS } from "./reviews.ts";

/** Rows that are imported at once; progress is shown after each batch. */
const PORTION = 320;
/** Names that are looked up or created at the same time. */
const CONCURRENCY = 32;

export interface ImportOptions {
  readonly onProgress?: (done: number, total: number) => void;
}

/** Whether an earlier import was completed. */
export async function isImported(api: FilmsApi): Promise<boolean> {
  return (await api.asSystem().importRun.count({ source: SOURCE })) > 0;
}

/**
 * Imports rows through the API's own import action, as an admin, with the usual rules, validation and reference checks.
 * A row that the API refuses is reported; any other failure ends the import. An interrupted import continues where it
 * stopped: stored films are recognised by title and day, and the report covers all rows in both cases. The people who
 * wrote the reviews exist already.
 */
export async function importFilms(
  api: FilmsApi,
  rows: readonly MovieRow[],
  { onProgress }: ImportOptions = {},
): Promise<ImportReport> {
  const report = await addFilms(api, rows, onProgress);
  await addReviews(api);
  if (await isImported(api)) return report;
  const { source, imported, repaired, rejected } = report;
  await api.asSystem().importRun.create({
    source,
    rows: rows.length,
    imported,
    repaired: repaired.length,
    rejected: rejected.length,
    finishedAt: new Date(),
  });
  return report;
}

async function addFilms(
  api: FilmsApi,
  rows: readonly MovieRow[],
  onProgress: ImportOptions["onProgress"],
): Promise<ImportReport> {
  const admin = api.as(grace);
  const [genreId, directorId, distributorId] = await Promise.all([
    openDirectory(admin.genre),
    openDirectory(admin.director),
    openDirectory(admin.distributor),
  ]);
  const rowOf = new Map<string, number>();
  const stored = new Set<string>();
  for await (const film of everyPage((page) => admin.film.list({ ...page, select: ["title", "releaseDate"] })))
    stored.add(keyOf(film.title, film.releaseDate));

  const repaired: RowNote[] = [];
  const rejected: RowNote[] = [];
  const reject = ({ row, film }: NumberedMovie, errors: FieldErrors): void => {
    const reason = Object.entries(errors).map(([field, message]) => (field === "_" ? message : `${field} ${message}`));
    rejected.push({ row, title: titleOf(film), reason: reason.join("; ") });
  };

  /** The rows to import: those that are not stored and not equal to an earlier row. */
  function select(movies: readonly NumberedMovie[]): NumberedMovie[] {
    return movies.filter((movie) => {
      const key = keyOf(movie.film.title, movie.film.releaseDate);
      const twin = rowOf.get(key);
      if (twin === undefined) rowOf.set(key, movie.row);
      else reject(movie, { _: `is row ${twin} again (same title and day)` });
      return twin === undefined && !stored.has(key);
    });
  }

  /** The film with ids in place of names; undefined when a name is refused. */
  async function withIds(movie: NumberedMovie): Promise<FilmRow | undefined> {
    const { film, genre, director, distributor } = movie;
    try {
      const ids = await Promise.all([genreId(genre), directorId(director), distributorId(distributor)]);
      return { movie, data: { ...film, genreId: ids[0], directorId: ids[1], distributorId: ids[2] } };
    } catch (error) {
      if (!(error instanceof ValidationFailedError)) throw error;
      reject(movie, error.errors);
      return undefined;
    }
  }

  for (let start = 0; start < rows.length; start += PORTION) {
    const movies = rows
      .slice(start, start + PORTION)
      .map((row, index) => ({ ...mapMovie(row), row: start + index + 1 }));
    const wanted = (await mapConcurrently(select(movies), CONCURRENCY, withIds)).filter((film) => film !== undefined);
    const { failed } = await admin.film.import(wanted.map(({ data }) => data));
    for (const { row, errors } of failed) reject((wanted[row - 1] as FilmRow).movie, errors);
    const refused = new Set(rejected.map(({ row }) => row));
    for (const { row, film, repairs } of movies)
      if (repairs.length > 0 && !refused.has(row))
        repaired.push({ row, title: titleOf(film), reason: repairs.join("; ") });
    for (const { row } of movies) onProgress?.(row, rows.length);
  }
  return {
    source: SOURCE,
    rows: rows.length,
    imported: rows.length - rejected.length,
    repaired,
    rejected: rejected.sort((a, b) => a.row - b.row),
  };
}

type NumberedMovie = MappedMovie & { readonly row: number };

interface FilmRow {
  readonly movie: NumberedMovie;
  readonly data: MappedMovie["film"];
}

function titleOf({ title }: MappedMovie["film"]): string {
  return String(title ?? "(no title)");
}

/** A film is identified by its title and its day. */
function keyOf(title: unknown, releaseDate: unknown): string {
  return JSON.stringify([title, releaseDate]);
}

/** Writes each review as its author, as over HTTP. Skips a review whose film was not imported. */
async function addReviews(api: FilmsApi): Promise<void> {
  for (const { author, title, year, stars, text } of REVIEWS) {
    const client = api.as(author);
    const where = { title, releaseDate: { gte: new Date(Date.UTC(year, 0)), lt: new Date(Date.UTC(year + 1, 0)) } };
    const [film] = (await client.film.list({ where, limit: 1 })).data;
    if (film === undefined) continue;
    const isWritten = (await client.review.count({ authorId: author.id, filmId: film.id })) > 0;
    if (!isWritten) await client.review.create({ filmId: film.id, stars, text });
  }
}
