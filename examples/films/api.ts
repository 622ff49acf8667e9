import { embedded, type KeelsonConfig, keelson } from "keelson";
import { director } from "./entities/director.ts";
import { distributor } from "./entities/distributor.ts";
import { film } from "./entities/film.ts";
import { genre } from "./entities/genre.ts";
import { importRun } from "./entities/import-run.ts";
import { review } from "./entities/review.ts";
import { user } from "./entities/user.ts";

const entities = [film, director, distributor, genre, review, user, importRun] as const;

export interface FilmsOptions extends Pick<KeelsonConfig, "getUser" | "logger"> {
  /** The SQLite file. */
  readonly file: string;
}

/** The whole application: entities in, API out. */
export function createFilms({ file, ...options }: FilmsOptions) {
  return keelson({ entities, driver: embedded({ file }), ...options });
}

export type FilmsApi = ReturnType<typeof createFilms>;
