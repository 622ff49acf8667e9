import type { EntityClient } from "../../../src/gate/index.ts";
import { HOOK_NAMES } from "../../../src/gate/operation/hook-map.ts";
import { type AnyEntity, createPlugin, type Driver, endpoint, type Logger, type Plugin } from "../../../src/index.ts";
import type { ServiceContext } from "../../../src/kernel/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { type Canaries, protectedFields } from "./canaries.ts";
import { protectedEntities } from "./entities.ts";
import { openEntities, rawEndpoints } from "./raw-endpoints.ts";
import { sabotage } from "./sabotage.ts";
import { CALLERS, type Facts, USERS } from "./truth.ts";

/** The second key only decrypts, and both bind values to their place. */
export const NEW_KEY = "a1".repeat(32);
export const OLD_KEY = "b2".repeat(32);

/** Places where the app runs user code, which may throw the value it is handling. */
export const SABOTAGE_POINTS = [
  ...HOOK_NAMES,
  "rule",
  "field validator",
  "validator",
  "default",
  "endpoint",
  "service",
  "toJSON",
];

function saboteur(): Plugin {
  const hooks = HOOK_NAMES.map((name) => [name, () => void sabotage.reach(name)]);
  return createPlugin({ id: "saboteur", version: "1.0.0", hooks: Object.fromEntries(hooks) });
}

const recordsService = ({ driver }: ServiceContext): { all(): Promise<unknown> } => ({
  async all() {
    sabotage.reach("service");
    return Promise.all(openEntities.map(({ name }) => (driver as Driver).findMany(name)));
  },
});

export function createProtectedApp(
  driver: Driver,
  logger: Logger,
  entities: readonly AnyEntity[] = protectedEntities.map((one) => one.build()),
  production = false,
) {
  return createTestApp({
    entities: (production ? entities.map(withCostlyPasswords) : entities) as unknown as typeof protectedEntities,
    driver,
    logger,
    production,
    encryption: {
      key: NEW_KEY,
      keyId: "new",
      bind: true,
      indexKey: OLD_KEY,
      keys: [{ key: OLD_KEY, keyId: "old", bind: true }],
    },
    services: { records: recordsService },
    plugins: [
      saboteur(),
      createPlugin({
        id: "raw",
        version: "1.0.0",
        endpoints: Object.fromEntries(
          Object.entries(rawEndpoints).map(([name, handler]) => [
            name,
            endpoint(`/raw/${name}`, { method: "GET", rules: ["everyone"], handler }),
          ]),
        ),
      }),
    ],
  });
}

/** Production refuses cheap hashes. */
function withCostlyPasswords(entity: AnyEntity): AnyEntity {
  const fields = Object.entries(entity.fields).map(([name, field]) => [
    name,
    field.password === undefined ? field : { ...field, password: { cost: 8 } },
  ]);
  return { ...entity, fields: Object.fromEntries(fields) };
}

export type ProtectedApp = ReturnType<typeof createProtectedApp>;

/** The app's clients by entity name, for code that iterates over them. */
export function clientsOf(app: ProtectedApp, as: "system" | (typeof USERS)[number]) {
  const clients = as === "system" ? app.api.asSystem() : app.api.as(CALLERS[as] as { id: string });
  return clients as unknown as Readonly<Record<string, EntityClient<AnyEntity>>>;
}

/** A value with a canary in every protected field. */
export function canariesFor(canaries: Canaries, entity: AnyEntity, facts: Facts): Record<string, unknown> {
  return Object.fromEntries(protectedFields(entity).map((name) => [name, canaries.valueFor(entity, name, facts)]));
}

/** The users that may read another user's mentorNote. */
export const MENTORS: Readonly<Record<string, string>> = { ann: "bob", bob: "root", root: "ann" };
const VIEWERS: Readonly<Record<string, readonly string[]>> = { ann: ["bob"], bob: ["ann", "root"], root: [] };

/** Creates three people who are each other's bosses and friends, and a note, a badge and a vault for each. */
export async function seedProtected(app: ProtectedApp, canaries: Canaries): Promise<void> {
  const system = clientsOf(app, "system");
  const { person, note, vault, badge } = app.api.entities;
  const create = async (entity: AnyEntity, facts: Facts, data: Record<string, unknown>): Promise<void> => {
    await system[entity.name]?.create({ ...canariesFor(canaries, entity, facts), ...data });
  };
  for (const id of USERS) {
    const facts = { owner: id, mentor: MENTORS[id] };
    const department = id === "bob" ? "hr" : "other";
    await create(person, facts, { id, name: `${id} itself`, department, mentor: MENTORS[id] });
  }
  for (const id of USERS) {
    const others = USERS.filter((other) => other !== id);
    await system.person?.update(id, { bossId: MENTORS[id], friendsIds: others });
    const facts = { owner: id, viewers: VIEWERS[id] };
    await create(note, facts, { id: `note-${id}`, title: `By ${id}`, authorId: id, viewersIds: VIEWERS[id] });
    await create(badge, {}, { id: `badge-${id}`, holderId: id });
    await create(vault, {}, { id: `vault-${id}`, holderId: id });
  }
}
