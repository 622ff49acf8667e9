import { defineConfig } from "keelson";
import { logins } from "./src/accounts.ts";
import { task } from "./src/entities/task.ts";
import { user } from "./src/entities/user.ts";

// Without a driver the data is in .keelson/app.db, a SQLite file. For PostgreSQL: driver: postgres(process.env.DATABASE_URL)
export default defineConfig({
  entities: [user, task],
  plugins: [logins],
});
