import { setTimeout as delay } from "node:timers/promises";
import { createPlugin, type Keelson, keelson, type Logger } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { jwtAuth } from "../../../src/plugins/jwt-auth/index.ts";
import { rateLimit } from "../../../src/plugins/rate-limit/index.ts";
import { type HostName, serveOnHosts } from "../hosts.ts";
import { TOKEN_CLAIMS, TOKEN_SECRET, TOKENS } from "./callers.ts";
import { SECRETS } from "./canaries.ts";
import type { FuzzDatabase } from "./databases.ts";
import { echo, fuzzEntities } from "./entities.ts";
import { createSnapshots, type Snapshots } from "./stored-rows.ts";
import { type WaitsForClient, watchServers } from "./watch-servers.ts";

const KEY = "c3".repeat(32);
const INDEX_KEY = "d4".repeat(32);

/** One app behind three hosts, and its database. */
export interface FuzzWorld {
  readonly ports: Readonly<Record<HostName, number>>;
  readonly snapshots: Snapshots;
  readonly waits: WaitsForClient;
  /** Resolves when the app is idle, including work for clients that have disconnected. */
  idle(): Promise<void>;
  /** Errors logged since the last call. */
  takeErrors(): string[];
  /** What no caller may ever see. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

export async function openWorld(open: () => Promise<FuzzDatabase>): Promise<FuzzWorld> {
  const database = await open();
  const errors: string[] = [];
  const ignore = (): void => {};
  const busy = new Set<string>();
  const watch = createPlugin({
    id: "watch",
    hooks: {
      "request:start": ({ requestId }) => void busy.add(requestId),
      "request:end": ({ requestId }) => void busy.delete(requestId),
    },
  });
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (message, meta) => void errors.push(`${message} ${JSON.stringify(meta)}`),
  };
  const api = keelson({
    entities: fuzzEntities,
    driver: database.driver,
    logger,
    production: false,
    encryption: { key: KEY, keyId: "k1", bind: true, indexKey: INDEX_KEY },
    plugins: [
      jwtAuth({ secret: TOKEN_SECRET, ...TOKEN_CLAIMS }),
      idempotency({ encrypted: true }),
      // Never exceeded: the plugin is present for its handling of addresses.
      rateLimit({ policies: [{ name: "all", limit: 1_000_000_000, window: 60, by: "address" }], trustedProxies: 1 }),
      echo,
      watch,
    ],
  });
  await api.ready;
  await seed(api.asSystem());
  const hosts = await serveOnHosts(api as unknown as Keelson);
  return {
    ports: hosts.ports,
    snapshots: await createSnapshots(database, ["user", "tag", "post", "note"]),
    waits: watchServers(hosts.servers),
    async idle() {
      while (busy.size > 0) await delay(1);
    },
    takeErrors: () => errors.splice(0),
    secrets: [KEY, INDEX_KEY, TOKEN_SECRET, database.place, process.cwd(), ...Object.values(TOKENS)],
    async close() {
      await hosts.close();
      await database.drop();
    },
  };
}

type System = ReturnType<ReturnType<typeof keelson<typeof fuzzEntities>>["asSystem"]>;

/** A user, and posts and notes of each user, one post archived and one deleted. */
async function seed(system: System): Promise<void> {
  await system.tag.create({ id: "t1", name: "first" });
  await system.tag.create({ id: "t2", name: "second" });
  const plain = { email: "root@fuzz.invalid", password: "of no interest", apiToken: "none", salary: 0, ssn: "none" };
  await system.user.create({ ...plain, id: "root", name: "root", role: "admin" });
  for (const id of ["ann", "bob"] as const) {
    const { email, password, apiToken, salary, ssn, pin, text, secret } = SECRETS[id];
    await system.user.create({ id, name: id, email, password, apiToken, salary, ssn });
    const common = { authorId: id, pin };
    await system.post.create({ ...common, id: `p-${id}`, title: `By ${id}`, slug: `by-${id}`, tagsIds: ["t1", "t2"] });
    await system.post.create({ ...common, id: `archived-${id}`, title: "Archived", archived: true });
    await system.post.create({ ...common, id: `deleted-${id}`, title: "Deleted", deletedAt: new Date(0) });
    await system.note.create({ id: `n-${id}`, authorId: id, text, secret });
  }
}
