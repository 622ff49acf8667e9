import { ValidationFailedError } from "keelson";
import type { FilmsApi } from "../api.ts";
import { grace } from "../people.ts";
import { openDirectory } from "./directory.ts";
import { everyPage } from "./every-page.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import type { ImportReport, RowNote } from "./import-report.ts";
import { mapMovie } from "./map-movie.ts";
import { type MovieRow, SOURCE } from "./movie-row.ts";
import { REVIEWS } from "./reviews.ts";

/** Rows on their way at the same time. */
const CONCURRENCY = 32;

export interface ImportOptions {
  readonly onProgress?: (done: number, total: number) => void;
}

/** Whether an earlier import came to its end. */
export async function isImported(api: FilmsApi): Promise<boolean> {
  return (await api.asSystem().importRun.count({ source: SOURCE })) > 0;
}

/**
 * Brings rows into the API through its own operations, as an admin: the rules, the validation and the reference checks
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
  let done = 0;

  async function addRow(source: MovieRow, row: number): Promise<void> {
    const { film, genre, director, distributor, repairs } = mapMovie(source);
    const title = String(film.title ?? "(no title)");
    const key = keyOf(film.title, film.releaseDate);
    const twin = rowOf.get(key);
    if (twin !== undefined)
      return void rejected.push({ row, title, reason: `is row ${twin} again (same title and day)` });
    rowOf.set(key, row);
    try {
      if (!stored.has(key)) {
        const ids = await Promise.all([genreId(genre), directorId(director), distributorId(distributor)]);
        await admin.film.create({ ...film, genreId: ids[0], directorId: ids[1], distributorId: ids[2] });
      }
      if (repairs.length > 0) repaired.push({ row, title, reason: repairs.join("; ") });
    } catch (error) {
      if (!(error instanceof ValidationFailedError)) throw error;
      const reason = Object.entries(error.errors).map(([field, message]) => `${field} ${message}`);
      rejected.push({ row, title, reason: reason.join("; ") });
    }
  }

  await forEachConcurrently(rows, CONCURRENCY, async (source, index) => {
    await addRow(source, index + 1);
    done += 1;
    onProgress?.(done, rows.length);
  });
  const byRow = (a: RowNote, b: RowNote): number => a.row - b.row;
  return {
    source: SOURCE,
    rows: rows.length,
    imported: rows.length - rejected.length,
    repaired: repaired.sort(byRow),
    rejected: rejected.sort(byRow),
  };
}

/** A film is known by its title and its day. */
function keyOf(title: unknown, releaseDate: unknown): string {
  return JSON.stringify([title, releaseDate]);
}

/** Each review is written by its author, as over HTTP. Without the film (a part of the data was imported) there is none. */
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
