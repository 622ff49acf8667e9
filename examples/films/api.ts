import { embedded, type KeelsonConfig, keelson } from "keelson";
import { jwtAuth } from "keelson/jwt";
import { openapi } from "keelson/openapi";
import { studio } from "keelson/studio";
import type { DemoSecrets } from "./demo-secrets.ts";
import { director } from "./entities/director.ts";
import { distributor } from "./entities/distributor.ts";
import { film } from "./entities/film.ts";
import { genre } from "./entities/genre.ts";
import { importRun } from "./entities/import-run.ts";
import { review } from "./entities/review.ts";
import { user } from "./entities/user.ts";
import { SIGN_TOKEN } from "./login.ts";
import { createSigner, tokenOptions } from "./tokens.ts";

const entities = [film, director, distributor, genre, review, user, importRun] as const;

/** The head of the documentation page. */
const INFO = {
  title: "Films",
  description: "Films with their directors, genres and distributors, and what people write about them.",
  contact: { name: "Films", url: "https://films.example" },
  license: { name: "MIT", identifier: "MIT" },
};

/** Charts on the first page of the studio. */
const CHARTS = [
  { entity: "film", group: "year(releaseDate)", title: "Films by year" },
  { entity: "film", group: "genreId", measure: "avg=imdbRating", title: "Average rating by genre" },
] as const;

export interface FilmsOptions extends Pick<KeelsonConfig, "logger"> {
  /** The SQLite file. */
  readonly file: string;
  readonly secrets: Pick<DemoSecrets, "tokens" | "encryption">;
}

/** The whole application: entities in, API out. */
export function createFilms({ file, secrets, ...options }: FilmsOptions) {
  return keelson({
    entities,
    driver: embedded({ file }),
    encryption: { key: secrets.encryption, bind: true },
    plugins: (defaults) =>
      defaults
        .replace("openapi", openapi({ info: INFO }))
        .with(jwtAuth(tokenOptions(secrets.tokens)), studio({ title: INFO.title, charts: CHARTS })),
    services: { [SIGN_TOKEN]: () => createSigner(secrets.tokens) },
    ...options,
  });
}

export type FilmsApi = ReturnType<typeof createFilms>;
