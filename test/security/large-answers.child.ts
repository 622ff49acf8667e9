// Serves the records of large-answers.test.ts from the database in its arguments: "sqlite" and a file, or "postgres" and a
// URL.
import {
  belongsTo,
  embedded,
  entity,
  exportAction,
  hasMany,
  keelson,
  noopLogger,
  postgres,
  string,
  text,
} from "../../src/index.ts";
import { startApp } from "../support/http.ts";

const [, , kind, place = ""] = process.argv;
const author = entity("author", { name: string, notes: hasMany(() => note) }).rules({ read: ["everyone"] });
const note = entity("note", { title: string, body: text, author: belongsTo(() => author) })
  .rules({ read: ["everyone"] })
  .actions({ export: exportAction });

const driver = kind === "sqlite" ? embedded({ file: place }) : postgres(place);
const api = keelson({ entities: [author, note], driver, logger: noopLogger });
const { port, close } = await startApp(api);
process.on("message", () => void close().then(() => process.disconnect()));
process.send?.({ port });
