import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { runCli } from "../../../src/cli/run-cli.ts";
import type { AnyEntity, ColumnDefinition, EntityLike } from "../../../src/entity/index.ts";
import { type Driver, resolveEntity } from "../../../src/index.ts";
import { routeSegment } from "../../../src/kernel/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { repositoryRoot } from "../../support/source-files.ts";
import type { SqlDatabase } from "../../support/sql-databases.ts";

/** A folder of the repository, where the package's name resolves to its source. */
export async function makeFolder(): Promise<string> {
  await mkdir(join(repositoryRoot, ".cache"), { recursive: true });
  return mkdtemp(join(repositoryRoot, ".cache/import-"));
}

/** Runs the command in this process. */
export async function keelson(...words: string[]): Promise<{ code: unknown; said: string; error: string }> {
  const written = { said: "", error: "" };
  const stream = (name: "said" | "error") => ({
    write: (text: string) => {
      written[name] += text;
      return true;
    },
  });
  const terminal = {
    stdin: process.stdin,
    stdout: stream("said"),
    stderr: stream("error"),
    interactive: false,
    colors: false,
  } as unknown as Parameters<typeof runCli>[1];
  return { code: await runCli(words, terminal), ...written };
}

/** The entities that an import has written. */
export async function entitiesIn(out: string): Promise<readonly EntityLike[]> {
  return ((await import(pathToFileURL(join(out, "index.ts")).href)) as { entities: readonly EntityLike[] }).entities;
}

/** Starts an app of imported entities, lists each of them, and compares every row and column with SQL. */
export async function expectSameRows(
  entities: readonly EntityLike[],
  driverFor: (readable: readonly EntityLike[]) => Promise<Driver>,
  { rows: ask }: Pick<SqlDatabase, "rows">,
  quote: string,
): Promise<void> {
  const readable = entities.map((one) => ({
    ...(resolveEntity(one as never) as AnyEntity),
    rules: { read: ["everyone"] },
  }));
  const app = createTestApp({ entities: readable as never, driver: await driverFor(readable) } as never);
  try {
    await app.api.ready;
    for (const entity of readable) {
      const path = `/api/${routeSegment(entity)}?_limit=100`;
      const { status, body } = await app.as({ id: "ann" }).request("GET", path);
      expect(status, `${entity.name}: ${JSON.stringify(body)}`).toBe(200);
      const table = tableIn(entity, quote);
      const rows = await ask(`select * from ${table}`);
      const shown = body as Record<string, unknown>[];
      expect(shown.length, entity.name).toBe(rows.length);
      const id = entity.columns.id as AnyEntity["columns"][string];
      const idOf = (row: Record<string, unknown>) =>
        id.parts === undefined
          ? String(row[id.stored])
          : id.parts
              .map((part) => String(shownRow(entity, row)[part.name]).replaceAll("%", "%25").replaceAll("~", "%7E"))
              .join("~");
      for (const row of rows) {
        const record = shown.find((one) => String(one.id) === idOf(row)) as Record<string, unknown>;
        expect(withNulls(entity, record), entity.name).toEqual(shownRow(entity, row));
      }
    }
  } finally {
    await app.close();
  }
}

const storedColumns = (entity: AnyEntity): ColumnDefinition[] =>
  Object.values(entity.columns).filter(({ parts }) => parts === undefined);

/** An SQL row in the form of a response. */
export function shownRow(entity: AnyEntity, row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    storedColumns(entity).map(({ name, stored, kind }) => [
      name,
      asShown(kind.column.scalar, row[stored], kind.column.scale),
    ]),
  );
}

/** The columns of a record, including those that it omits because they are null. */
export function withNulls(entity: AnyEntity, record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(storedColumns(entity).map(({ name }) => [name, record[name] ?? null]));
}

/** The SQL name of an entity's table. */
export function tableIn(entity: AnyEntity, quote: string): string {
  const parts = [entity.table?.schema, entity.table?.name ?? entity.name];
  return parts.flatMap((part) => (part === undefined ? [] : [`${quote}${part}${quote}`])).join(".");
}

/** JSON that a connector may have parsed already. */
function parsedOnce(value: unknown): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return value;
  }
}

/** An SQL value in the form of a response. */
function asShown(scalar: string, value: unknown, scale: number | undefined): unknown {
  if (value === null) return null;
  switch (scalar) {
    case "BigInt":
      return String(value);
    case "Decimal":
      // Without a declared scale, it has as many digits as the number.
      return scale === undefined ? String(Number(value)) : Number(value).toFixed(scale);
    case "Int":
    case "Float":
      return Number(value);
    case "Boolean":
      return value === true || Number(value) === 1;
    case "DateTime":
      return (
        value instanceof Date
          ? value
          : new Date(`${String(value).replace(" ", "T")}${/Z|[+-]\d\d/.test(String(value).slice(10)) ? "" : "Z"}`)
      ).toISOString();
    case "Date":
      return value instanceof Date
        ? `${value.getFullYear()}-${String(value.getMonth() + 1).padStart(2, "0")}-${String(value.getDate()).padStart(2, "0")}`
        : value;
    case "Time":
      return String(value)
        .replace(/\.\d+$/, (digits) => digits.padEnd(4, "0"))
        .replace(/\.000$/, "");
    case "Bytes":
      return Buffer.from(value as ArrayBuffer).toString("base64");
    case "Json":
      return parsedOnce(value);
    default:
      return value;
  }
}
