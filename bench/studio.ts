/**
 * `npm run bench:studio`: how long the studio's page takes from its address to the first row of a list, in an app of 300
 * entities, one of which has a million records, and how many bytes it loads for that.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { createClient } from "@libsql/client";
import { embedded, entity, int, keelson, noopLogger, string } from "keelson";
import { serve } from "keelson/node";
import { studio } from "keelson/studio";
import { launchBrowser } from "../test/support/launch-browser.ts";

const ENTITIES = 300;
const RECORDS = Number(process.env.RECORDS ?? 1_000_000);
const ROUNDS = 7;

const folder = mkdtempSync(join(tmpdir(), "bench-studio-"));
const file = join(folder, "studio.db");
const everyone = { read: ["everyone"] } as const;
const large = entity("large", { name: string, size: int }).rules(everyone);
const others = Array.from({ length: ENTITIES - 1 }, (_, index) =>
  entity(`thing${index}`, { name: string, size: int, note: string.optional() }).rules(everyone),
);
const api = keelson({
  entities: [large, ...others],
  driver: embedded({ file }),
  logger: noopLogger,
  plugins: [studio()],
});
await api.ready;
const database = createClient({ url: pathToFileURL(file).href });
await database.execute(`INSERT INTO "large" ("id", "name", "size", "createdAt", "updatedAt")
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RECORDS})
  SELECT printf('%08d', i), 'Record ' || i, i % 1000, 1767225600000, 1767225600000 FROM n`);
database.close();

const { url, close } = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false });
const browser = await launchBrowser();
try {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const page = await (await browser.newContext()).newPage();
    const sizes: number[] = [];
    page.on("response", (response) => {
      response.body().then(
        (body) => void sizes.push(gzipSync(body).length),
        () => {},
      );
    });
    const begin = performance.now();
    await page.goto(`${url}/studio#/larges`);
    await page.locator("table.records tbody tr").first().waitFor();
    times.push(performance.now() - begin);
    await page.waitForLoadState("networkidle");
    if (round === 0) console.log(`${sizes.reduce((sum, size) => sum + size, 0)} bytes, compressed, with the data`);
    await page.context().close();
  }
  times.sort((a, b) => a - b);
  console.log(
    `first list: median ${Math.round(times[ROUNDS >> 1] ?? 0)} ms of ${ROUNDS}, ${times.map(Math.round).join(", ")}`,
  );
} finally {
  await browser.close();
  await close();
  rmSync(folder, { recursive: true });
}
