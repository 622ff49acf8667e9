import { defineConfig } from "keelson";
import { jwtAuth } from "keelson/jwt";
import { task } from "./src/entities/task.ts";
import { user } from "./src/entities/user.ts";
import { tokens } from "./src/tokens.ts";

// Without a driver the data is in .keelson/app.db, a SQLite file. For PostgreSQL: driver: postgres(process.env.DATABASE_URL)
export default defineConfig({
  entities: [user, task],
  plugins: [jwtAuth(tokens)],
  // `bind` ties a value to its record: copied into another one, it does not open.
  encryption: { key: process.env.ENCRYPTION_KEY ?? "", bind: true },
});
