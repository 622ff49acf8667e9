import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join, parse } from "node:path";
import { ConfigurationError, isKeelsonError } from "keelson";
import { serve } from "keelson/node";
import { addPeople } from "./add-people.ts";
import { createFilms } from "./api.ts";
import { banner } from "./banner.ts";
import { openDemoSecrets } from "./demo-secrets.ts";
import { importFilms, isImported } from "./import/import-films.ts";
import { summarize, writeReport } from "./import/import-report.ts";
import { readMovies } from "./import/movie-row.ts";
import { showProgress } from "./import/progress.ts";

/** Imports missing films, then serves them. `PORT` and `FILMS_FILE` set the port and the database. */
async function start(): Promise<void> {
  const port = portFrom(process.env.PORT);
  const file = process.env.FILMS_FILE ?? ".keelson/films.db";
  const beside = (suffix: string): string => join(dirname(file), `${parse(file).name}-${suffix}.json`);
  const release = await reserve(port);
  await mkdir(dirname(file), { recursive: true });
  const secrets = await openDemoSecrets(beside("secrets"), file);
  const api = createFilms({ file, secrets });
  let running: { close(): Promise<void> } = api;
  try {
    await api.ready;
    await addPeople(api, secrets.passwords);
    if (!(await isImported(api))) {
      const rows = await readMovies();
      console.log(`Importing ${rows.length.toLocaleString("en")} films into ${file}`);
      const begin = performance.now();
      const report = await importFilms(api, rows, { onProgress: showProgress(process.stdout) });
      await writeReport(beside("import-report"), report);
      console.log(summarize(report, beside("import-report"), performance.now() - begin));
    }
    await release();
    const served = await serve(api, { port });
    running = served;
    console.log(await banner({ api, url: served.url, file, secrets }));
  } catch (error) {
    await running.close();
    throw error;
  }
}

function portFrom(text = "3000"): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new ConfigurationError(`PORT is "${text}"; it must be a number from 0 (any free port) to 65535`);
}

/**
 * Reserves the port during the import, so that a second start fails at once and does not import the same films at the
 * same time.
 */
function reserve(port: number): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const holder = createServer((socket) => socket.destroy());
    holder.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "is taken" : `cannot be used (${error.code})`;
      reject(new ConfigurationError(`Port ${port} ${reason}. Choose another one: PORT=${port + 1} npm start`));
    });
    const release = (): Promise<void> => new Promise((released) => holder.close(() => released()));
    holder.unref().listen(port, () => resolve(release));
  });
}

try {
  await start();
} catch (error) {
  if (!isKeelsonError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
