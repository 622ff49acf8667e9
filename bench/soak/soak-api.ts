// The app that is soaked: records with owners and versions, an action, and counters that everybody changes at once.
import {
  belongsTo,
  bool,
  bulkUpdateAction,
  countAction,
  type Driver,
  entity,
  exportAction,
  int,
  type Keelson,
  keelson,
  noopLogger,
  type Plugin,
  string,
  text,
  toggleAction,
} from "keelson";

/** Callers there are; each is a user of that name, known by a token of that name. */
export const CALLERS: readonly string[] = Array.from({ length: 8 }, (_, index) => `caller-${index}`);

/** Records that everybody changes, to see whether a change gets lost. */
export const COUNTERS: readonly string[] = ["counter-0", "counter-1", "counter-2"];

const user = entity("user", { name: string })
  .timestamps(false)
  .ownedBy("id")
  .rules({ read: ["everyone"] });

const note = entity("note", {
  title: string.min(1).max(200),
  body: text,
  size: int.default(0),
  done: bool.default(false),
  author: belongsTo(() => user),
})
  .ownedBy("author")
  .versioned()
  .index(["title"])
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({
    toggle: toggleAction("done"),
    bulkUpdate: bulkUpdateAction,
    count: countAction,
    export: exportAction,
  });

const counter = entity("counter", { changes: int.default(0) })
  .versioned({ required: true })
  .rules({ read: ["everyone"], update: ["authenticated"] });

/** @param production false for who makes the tables */
export function createSoakApi(driver: Driver, plugins: readonly Plugin[] = [], production = true): Keelson {
  return keelson({
    entities: [user, note, counter],
    driver,
    plugins: [...plugins],
    logger: noopLogger,
    production,
    getUser({ headers }) {
      const token = headers.get("authorization")?.slice("Bearer ".length);
      return token !== undefined && CALLERS.includes(token) ? { id: token } : null;
    },
  }) as unknown as Keelson;
}

/** Makes the tables, and the records that are there from the beginning. */
export async function prepareSoak(driver: Driver): Promise<void> {
  const api = createSoakApi(driver, [], false);
  await api.ready;
  const system = api.asSystem() as unknown as Record<"user" | "counter", { create(data: object): Promise<unknown> }>;
  for (const id of CALLERS) await system.user.create({ id, name: id });
  for (const id of COUNTERS) await system.counter.create({ id });
  await api.close();
}
