import { randomBytes } from "node:crypto";
import { generateEncryptionKey, type KeelsonConfig } from "keelson";
import { addPeople } from "../films/add-people.ts";
import { createFilms, type FilmsApi } from "../films/api.ts";
import { importFilms } from "../films/import/import-films.ts";
import { readMovies } from "../films/import/movie-row.ts";
import type { PersonId } from "../films/people.ts";

/** The votes of a well-known film: 175 films have at least this number. */
const WELL_KNOWN = 100_000;

/** A films API on a new database, with new secrets. */
export interface OpenFilms {
  readonly api: FilmsApi;
  readonly passwords: Readonly<Record<PersonId, string>>;
}

/**
 * Opens the films API on a new database, with the best-known films.
 * @param file the database, which does not exist yet
 */
export async function openFilms(file: string, options: Pick<KeelsonConfig, "logger"> = {}): Promise<OpenFilms> {
  const random = (): string => randomBytes(12).toString("base64url");
  const passwords = { ada: random(), grace: random() };
  const secrets = { tokens: randomBytes(48).toString("base64"), encryption: generateEncryptionKey() };
  const api = createFilms({ file, secrets, ...options });
  await api.ready;
  await addPeople(api, passwords);
  await importFilms(
    api,
    (await readMovies()).filter((row) => Number(row["IMDB Votes"]) >= WELL_KNOWN),
  );
  return { api, passwords };
}
