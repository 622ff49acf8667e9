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

/** Rows that are imported in one go, after which progress is shown. */
const PORTION = 320;
/** Names that are looked up, or made, at the same time. */
const CONCURRENCY = 32;

export interface ImportOptions {
  readonly onProgress?: (done: number, total: number) => void;
}

/** Whether an earlier import came to its end. */
export async function isImported(api: FilmsApi): Promise<boolean> {
  return (await api.asSystem().importRun.count({ source: SOURCE })) > 0;
}

/**
 * Brings rows into the API through its own import action, as an admin: the rules, the validation and the reference checks
 * that hold for everybody hold here. A row that the API refuses is reported, anything else that goes wrong ends the
 * import. An import that was interrupted goes on where it stopped: what is stored already is recognised by title and
 * day, and the report covers all rows either way. The people who wrote the reviews are there already.
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

  /** What there is to import of some rows: neither stored nor like a row before. */
  function select(movies: readonly NumberedMovie[]): NumberedMovie[] {
    return movies.filter((movie) => {
      const key = keyOf(movie.film.title, movie.film.releaseDate);
      const twin = rowOf.get(key);
      if (twin === undefined) rowOf.set(key, movie.row);
      else reject(movie, { _: `is row ${twin} again (same title and day)` });
      return twin === undefined && !stored.has(key);
    });
  }

  /** The film with ids in place of names; undefined when one of these is refused. */
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

/** A film is known by its title and its day. */
function keyOf(title: unknown, releaseDate: unknown): string {
  return JSON.stringify([title, releaseDate]);
}

/** Each review is written by its author, as over HTTP. A review without its film is skipped, when only a part of the data was imported. */
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
