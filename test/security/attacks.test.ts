import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTACKS } from "../support/attacks/all-attacks.ts";
import { attackApp } from "../support/attacks/attack-app.ts";
import { type AttackedApp, startAttackedApp } from "../support/attacks/attacked-app.ts";
import { isThorough } from "../support/attacks/turn-of.ts";
import { RAW_DATABASES, type RawDatabase } from "../support/protected/raw-database.ts";
import { amount, oneOf } from "../support/suite.ts";

// An app with every shipped plugin switched on, over HTTP, against all attacks. ATTACKS=all tries all combinations, on both
// databases; ATTACKS_COUNTS names a file for the number of requests. deliberate-holes.test.ts shows that these attacks
// find real defects.

const databases = RAW_DATABASES.filter(([name]) => isThorough || name === "PostgreSQL");

describe.each(databases)("an app on %s", (name, open) => {
  let database: RawDatabase;
  let app: AttackedApp;
  const counts: Record<string, number> = {};

  beforeAll(async () => {
    database = await open();
    const rows = (entity: string) => database.query(`SELECT * FROM "${entity}" ORDER BY "id"`);
    app = await startAttackedApp({ driver: database.driver(), rows });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
    const { ATTACKS_COUNTS } = process.env;
    if (ATTACKS_COUNTS !== undefined)
      await writeFile(ATTACKS_COUNTS, `${JSON.stringify({ database: name, ...counts })}\n`, { flag: "a" });
  });

  // Each attack on one of the databases, and on all in the long suite; the last one inspects what the others have left.
  const turn = RAW_DATABASES.findIndex(([one]) => one === name);
  const isHere = (index: number): boolean => oneOf(index, [...RAW_DATABASES.keys()]).includes(turn);
  const attacks = ATTACKS.filter((attack, index) => attack === ATTACKS.at(-1) || isHere(index)).map(
    (attack) => [attack.name, attack] as const,
  );
  it.each(attacks)("leaks nothing: %s", { timeout: 600_000 }, async (_name, attack) => {
    const { findings, tried } = await attackApp(app, attack);
    expect(findings.slice(0, 20)).toEqual([]);
    expect(tried).toBeGreaterThan(10);
    counts[attack.name] = tried;
  });

  it("still responds after many thousand requests", async () => {
    expect(Object.keys(counts)).toHaveLength(attacks.length);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(amount(1_000, 10_000));
    expect((await fetch(`${app.url}/api/people`)).status).toBe(200);
  });
});
