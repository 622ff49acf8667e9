// An app on the built package: KEELSON is where that is, ENTITIES how many there are, DATABASE a URL of PostgreSQL or a file.
import type * as Keelson from "keelson";
import { manyEntities } from "./many-entities.ts";

const { KEELSON, ENTITIES, DATABASE = "", PORT } = process.env;
const keelson = (await import(KEELSON as string)) as typeof Keelson;
const { embedded, noopLogger, postgres, serve } = keelson;

const api = keelson.keelson({
  entities: manyEntities(keelson, Number(ENTITIES)),
  driver: DATABASE.startsWith("postgres:") ? postgres(DATABASE) : embedded({ file: DATABASE }),
  logger: noopLogger,
});
await serve(api, { port: Number(PORT), hostname: "127.0.0.1" });
