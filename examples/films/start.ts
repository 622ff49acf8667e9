import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join, parse } from "node:path";
import { ConfigurationError, isKeelsonError, serve } from "keelson";
import { createFilms } from "./api.ts";
import { banner } from "./banner.ts";
import { openDemoTokens } from "./demo-tokens.ts";
import { importFilms, isImported } from "./import/import-films.ts";
import { summarize, writeReport } from "./import/import-report.ts";
import { readMovies } from "./import/movie-row.ts";
import { showProgress } from "./import/progress.ts";

/** Imports the films if they are not there yet, then serves them. `PORT` and `FILMS_FILE` say where. */
async function start(): Promise<void> {
  const port = portFrom(process.env.PORT);
  const file = process.env.FILMS_FILE ?? ".keelson/films.db";
  const beside = (suffix: string): string => join(dirname(file), `${parse(file).name}-${suffix}.json`);
  await assertFree(port);
  await mkdir(dirname(file), { recursive: true });
  const tokens = await openDemoTokens(beside("tokens"));
  const api = createFilms({ file, getUser: tokens.getUser });
  try {
    await api.ready;
    if (!(await isImported(api))) {
      const rows = await readMovies();
      console.log(`Importing ${rows.length.toLocaleString("en")} films into ${file}`);
      const report = await importFilms(api, rows, { onProgress: showProgress(process.stdout) });
      await writeReport(beside("import-report"), report);
      console.log(summarize(report, beside("import-report")));
    }
    const { url } = await serve(api, { port });
    console.log(await banner({ api, url, file, tokens }));
  } catch (error) {
    await api.close();
    throw error;
  }
}

function portFrom(text = "3000"): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new ConfigurationError(`PORT is "${text}"; it must be a number from 0 (any free port) to 65535`);
}

/** Asked before the import, so that nobody waits for it in vain. */
function assertFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "is taken" : `cannot be used (${error.code})`;
      reject(new ConfigurationError(`Port ${port} ${reason}. Choose another one: PORT=${port + 1} npm start`));
    });
    probe.listen(port, () => probe.close(() => resolve()));
  });
}

try {
  await start();
} catch (error) {
  if (!isKeelsonError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
