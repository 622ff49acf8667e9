// An app on the built package: KEELSON is where that is, ENTITIES how many there are, DATABASE a URL of PostgreSQL or a file.
import type * as Keelson from "keelson";
import type * as Node from "keelson/node";
import { manyEntities } from "./many-entities.ts";

const { KEELSON, ENTITIES, DATABASE = "", PORT } = process.env;
const keelson = (await import(KEELSON as string)) as typeof Keelson;
const { embedded, noopLogger, postgres } = keelson;
const { serve } = (await import(new URL("node.js", KEELSON).href)) as typeof Node;

const api = keelson.keelson({
  entities: manyEntities(keelson, Number(ENTITIES)),
  driver: DATABASE.startsWith("postgres:") ? postgres(DATABASE) : embedded({ file: DATABASE }),
  logger: noopLogger,
});
await serve(api, { port: Number(PORT), hostname: "127.0.0.1" });
