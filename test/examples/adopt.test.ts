import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { embedded, noopLogger } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createShop } from "../../examples/adopt/api.ts";
import { createDatabase } from "../../examples/adopt/create-database.ts";
import { entities } from "../../examples/adopt/entities/index.ts";
import { expectSameRows, keelson, makeFolder } from "../cli/import/imported.ts";
import { freshSqliteFile } from "../support/databases.ts";
import { request, startApp } from "../support/http.ts";
import { repositoryRoot } from "../support/source-files.ts";

describe("an adopted database", () => {
  const written = join(repositoryRoot, "examples/adopt/entities");
  let file: string;
  let remove: () => Promise<void>;
  let url = "";
  let close: () => Promise<void>;
  let before: unknown;

  async function rows(statement: string): Promise<Record<string, unknown>[]> {
    const client = createClient({ url: `file:${file}` });
    const answer = await client.execute(statement);
    client.close();
    return answer.rows.map((row) => ({ ...row }));
  }
  const tables = () => rows("select type, name, sql from sqlite_master order by name");

  beforeAll(async () => {
    ({ file, remove } = await freshSqliteFile());
    await createDatabase(file);
    before = await tables();
    const api = createShop({
      driver: embedded({ file }),
      logger: noopLogger,
      getUser: ({ headers }) => {
        const [role = "", id = ""] = headers.get("authorization")?.slice("Bearer ".length).split("-") ?? [];
        return id === "" ? null : { id, role };
      },
    });
    ({ url, close } = await startApp(api));
  });
  afterAll(async () => {
    await close?.();
    await remove?.();
  });
  const as = (token: string | undefined, method: string, path: string, body?: unknown) =>
    request(url, method, `/api/${path}`, { token, body });

  it("has the entities that the command writes and reports", async () => {
    const folder = await makeFolder();
    try {
      const out = join(folder, "entities");
      expect((await keelson("import", `file:${file}`, `--out=${out}`)).code).toBe(0);
      expect((await readdir(written)).sort()).toEqual((await readdir(out)).sort());
      for (const name of await readdir(out))
        expect(await readFile(join(written, name), "utf8")).toBe(await readFile(join(out, name), "utf8"));
      await cp(written, out, { recursive: true });
      const again = await keelson("import", `file:${file}`, `--out=${out}`);
      expect([again.code, again.said]).toEqual([0, expect.stringContaining("fits the database")]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("returns the same rows and columns as SQL", async () => {
    await expectSameRows(entities, async () => embedded({ file }), { rows }, '"');
  });

  it("is related, sorted, filtered and paged by the names of the entities", async () => {
    const { json } = await as(undefined, "GET", "tracks?_sort=-milliseconds&_limit=2&include=album.artist,playlists");
    expect(json).toMatchObject([
      { unitPrice: "0.99", album: { title: "Jagged Little Pill", artist: { name: "Alanis Morissette" } } },
      { album: { artist: { name: "Aerosmith" } }, playlists: expect.arrayContaining([{ id: 1, name: "Music" }]) },
    ]);
    const found = await as(undefined, "GET", "albums?artist.name=Accept&_sort=title&include=tracks");
    expect(found.json.map(({ title, tracks }: { title: string; tracks: object[] }) => [title, tracks.length])).toEqual([
      ["Balls to the Wall", 1],
      ["Restless and Wild", 3],
    ]);
    const staff = await as("staff-1", "GET", "employees?hireDate_lt=2003-01-01&_sort=hireDate&include=reportsTo");
    expect(staff.json.map(({ firstName }: { firstName: string }) => firstName)).toEqual(["Jane", "Nancy", "Andrew"]);
    const bought = await as("staff-1", "GET", "invoices?invoiceDate_gt=2021-01-01&invoiceDate_lte=2021-01-02");
    expect(bought.json.map(({ id }: { id: number }) => id)).toEqual([2]);
    const sameDay = await as("staff-1", "GET", "invoices?invoiceDate=2021-01-02");
    expect(sameDay.json.map(({ id }: { id: number }) => id)).toEqual([2]);
  });

  it("obeys the rules", async () => {
    expect((await as(undefined, "GET", "customers")).status).toBe(401);
    expect((await as("customer-4", "GET", "customers")).json).toMatchObject([{ id: 4, firstName: "Bjørn" }]);
    expect((await as("customer-4", "GET", "invoices?include=invoiceLines")).json).toMatchObject([
      { id: 2, total: "3.96", invoiceLines: { length: 4 } },
    ]);
    expect((await as("customer-4", "GET", "invoices/1")).status).toBe(403);
    expect((await as("customer-4", "GET", "invoice-lines?_limit=100")).json).toHaveLength(4);
    expect((await as("customer-4", "POST", "playlists", { name: "Mine" })).status).toBe(403);
    expect((await as("customer-4", "PATCH", "tracks/1", { unitPrice: "0" })).status).toBe(403);
  });

  it("is written to, and its tables do not change", async () => {
    expect((await as("staff-1", "PATCH", "tracks/1", { unitPrice: "1.29" })).json).toMatchObject({ unitPrice: "1.29" });
    const made = await as("staff-1", "POST", "playlists", { name: "Mine", tracksIds: [1, 2] });
    expect([made.status, made.json.id]).toEqual([201, 18]);
    expect(await rows("select TrackId from PlaylistTrack where PlaylistId = 18 order by 1")).toEqual([
      { TrackId: 1 },
      { TrackId: 2 },
    ]);
    expect(await rows("select UnitPrice from Track where TrackId = 1")).toEqual([{ UnitPrice: 1.29 }]);
    expect(await tables()).toEqual(before);
  });
});
