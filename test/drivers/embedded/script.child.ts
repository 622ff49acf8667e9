// A typical script: it creates its tables, stores a record, closes the app unless told otherwise, and ends.
import { embedded, entity, keelson, noopLogger, postgres, string } from "keelson";

const database = process.argv[2] as string;
const note = entity("note", { title: string }).rules({ read: ["everyone"] });
const driver = database.startsWith("postgres:") ? postgres(database) : embedded({ file: database });
const api = keelson({ entities: [note], driver, logger: noopLogger });
await api.ready;
await api.asSystem().note.create({ title: "one" });
if (process.argv[3] === "open") {
  const end = performance.now();
  process.on("exit", () => process.stdout.write(String(Math.round(performance.now() - end))));
} else {
  await api.close();
  process.stdout.write("closed");
}
