import { Pool } from "pg";
import { benchDatabaseUrl, poolSize } from "./database.ts";

/** The connections of the servers by hand without an ORM. */
export const createPgPool = (): Pool => new Pool({ connectionString: benchDatabaseUrl(), max: poolSize });
