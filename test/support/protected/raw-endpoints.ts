import type { RouteHandler } from "../../../src/gate/index.ts";
import type { Row } from "../../../src/index.ts";
import { badge, note, person } from "./entities.ts";
import { sabotage } from "./sabotage.ts";

/** An object with its own `toJSON`. */
class Report {
  readonly #rows: readonly Row[];
  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }
  toJSON(): unknown {
    sabotage.reach("toJSON");
    return { rows: this.#rows, wrapped: new Map([["first", this.#rows[0]]]) };
  }
}

/** Records that all callers may read. For other entities, fields are masked too; the handler decides who may call it. */
export const openEntities = [person, note, badge] as const;
const names = openEntities.map(({ name }) => name);

/** Endpoints that return what they find, unchanged, in every possible shape. */
export const rawEndpoints: Readonly<Record<string, RouteHandler>> = {
  find: async ({ scope }) => {
    sabotage.reach("endpoint");
    return Promise.all(names.map((name) => scope.driver.findMany(name)));
  },
  one: async ({ scope }) => Promise.all(names.map((name) => scope.driver.findOne(name, { id: { null: false } }))),
  async stream({ scope }) {
    const batches: Row[][] = [];
    for (const name of names) for await (const rows of scope.driver.stream(name, {}, 2)) batches.push(rows);
    return batches;
  },
  transaction: async ({ scope }) =>
    scope.transaction(async ({ driver }) => {
      const inner = await driver.transaction((deeper) => deeper.findMany("person"));
      return { inner, notes: await driver.findMany("note") };
    }),
  async written({ scope }) {
    const { driver } = scope;
    const updated = await driver.update("person", { id: "ann" }, { name: "ann again" });
    const { id, viewers, author, ...rest } = (await driver.findOne("note", { id: "note-bob" })) as Row;
    return { updated, rest, id, viewers, author };
  },
  operation: async ({ scope }) => {
    const { records } = await scope.run({ kind: "list", entity: "person", query: { include: { notes: {} } } });
    return { records, copies: records.map((record) => ({ ...record })) };
  },
  async nested({ scope }) {
    const rows = await scope.driver.findMany("person");
    const people = new Map(rows.map((row) => [String(row.id), row]));
    return {
      people,
      set: new Set(rows),
      report: new Report(rows),
      deep: [[{ owner: { ...rows[0], extra: rows[1] } }, [new Map([["set", new Set([rows[2]])]])]]],
      bare: Object.assign(Object.create(null), { row: rows[0] }),
      get lazy() {
        return rows[1];
      },
      related: rows.map((row) => ({ ...row, boss: people.get(String(row.bossId)), reports: rows })),
    };
  },
  selected: async ({ scope }) =>
    Promise.all(
      openEntities.map((entity) =>
        Promise.all(
          Object.keys(entity.build().columns).map((name) => scope.driver.findMany(entity, { select: [name] })),
        ),
      ),
    ),
  service: async ({ scope }) => scope.services.resolve<{ all(): Promise<unknown> }>("records").all(),
  // Records that code serialises itself must not contain columns that are hidden from all callers.
  text: async ({ scope }) => {
    const rows = (await scope.driver.findMany("badge")).map(({ serial, ...rest }) => rest);
    return { text: JSON.stringify(rows), keys: rows.map(Object.keys) };
  },
};
