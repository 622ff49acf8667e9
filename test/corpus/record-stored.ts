/** `npm run corpus:stored`: writes databases with the current version, for later versions to read (stored.test.ts). */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createBank } from "../../examples/orders/bank.ts";
import { openMigrations } from "../../src/drivers/prisma/index.ts";
import { TOKENS } from "../support/fuzz/callers.ts";
import { FixedTime, openCorpusApp } from "./app.ts";
import { corpusModel, STORED_DATABASES } from "./stored-app.ts";

/** A payment service that never responds for this card, so its run stays unfinished. */
const SLOW_CARD = "9999222233334444";

for (const open of Object.values(STORED_DATABASES)) {
  const database = await open();
  const { provider } = database;
  const folder = fileURLToPath(new URL(`stored/${provider}/`, import.meta.url));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const target = { provider, url: database.url } as const;
  const migrations = await openMigrations({
    entities: await corpusModel(),
    target,
    directory: `${folder}migrations`,
  });
  await migrations.create("first");
  await migrations.deploy();
  await migrations.close();

  const bank = createBank();
  const charge: typeof bank.charge = (card, ...rest) =>
    card === SLOW_CARD ? new Promise(() => {}) : bank.charge(card, ...rest);
  const time = new FixedTime();
  const api = await openCorpusApp(database.driver(), time, { ...bank, charge });
  const post = (path: string, json: unknown, key?: string): Promise<Response> =>
    api.fetch(
      new Request(`http://corpus.invalid${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${TOKENS.ann}`,
          "content-type": "application/json",
          ...(key !== undefined && { "idempotency-key": key }),
        },
        body: JSON.stringify(json),
      }),
    );
  const first = { title: "Kept", slug: "kept", views: 1, meta: { kept: [true] } };
  const answers: unknown[] = [];
  for (const [path, json, key] of [
    ["/api/posts", first, "post"],
    ["/api/orders/place", { productId: "soap", count: 1, card: "1111222233334444" }, "paid"],
    ["/api/orders/place", { productId: "soap", count: 1, card: "0000222233334444" }, "refused"],
  ] as const) {
    time.request += 1;
    const response = await post(path, json, key);
    answers.push({ path, json, key, status: response.status, body: await response.text() });
  }
  time.request += 1;
  void post("/api/orders/place", { productId: "soap", count: 1, card: SLOW_CARD }, "unfinished").catch(() => {});
  while ((await api.driver.count("order", { total: 200 })) < 3) await new Promise((done) => setTimeout(done, 20));
  await writeFile(`${folder}rows.json`, `${JSON.stringify({ answers, rows: await database.dump() }, null, 1)}\n`);
  console.log(`${provider}: written`);
}
process.exit(0);
