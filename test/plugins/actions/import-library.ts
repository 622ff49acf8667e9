import {
  action,
  belongsTo,
  bool,
  createPlugin,
  type Driver,
  datetime,
  defineRule,
  embedded,
  entity,
  enums,
  exportAction,
  float,
  generateEncryptionKey,
  importAction,
  int,
  json,
  keelson,
  manyToMany,
  noopLogger,
  postgres,
  string,
  text,
  type User,
} from "../../../src/index.ts";
import type { Operation } from "../../../src/plugin.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { type RunningApp, startApp } from "../../support/http.ts";
import { recordStatements } from "../../support/record-statements.ts";

interface Importer {
  import(rows: readonly object[]): Promise<unknown>;
}

const everyone = { read: ["everyone"] };

const user = entity("user", { name: string }).ownedBy("id").rules(everyone);

/** Shelves in the cellar are for admins only. */
const shelf = entity("shelf", { name: string, cellar: bool.default(false) }).rules({
  read: [defineRule("upstairs", () => ({ cellar: false })), "admin"],
});

const tag = entity("tag", { name: string }).rules(everyone);

const book = entity("book", {
  title: string.trim().min(2),
  isbn: string.trim().upper().unique().optional(),
  edition: int.default(1),
  price: float.optional(),
  published: datetime.optional(),
  inStock: bool.default(false),
  binding: enums("hard", "soft").optional(),
  blurb: text.optional(),
  extra: json.optional(),
  rank: int.optional().writable("admin"),
  shelf: belongsTo(() => shelf).optional(),
  tags: manyToMany(() => tag),
  owner: belongsTo(() => user),
})
  .unique(["title", "edition"])
  .ownedBy("owner")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({
    import: importAction({ batch: 4 }),
    importOver: importAction({ upsertBy: "isbn", batch: 4 }).path("/upsert"),
    upsertPair: importAction({ upsertBy: ["edition", "title"] }).path("/upsert-pair"),
    check: importAction({ dryRun: true, batch: 2 }).path("/check"),
    export: exportAction(),
    within: action().handler(({ transaction }) =>
      transaction(async ({ client }) => (client("book") as unknown as Importer).import([{ title: "Within" }])),
    ),
  });

/** Its rules read the record, and its secrets are stored as ciphertext and hash. */
const account = entity("account", {
  email: string.trim().lower().unique().encrypted({ searchable: true }),
  pin: string.password({ cost: 1 }),
  ceiling: int.encrypted().optional(),
  owner: belongsTo(() => user),
})
  .ownedBy("owner")
  .rules({ read: ["owner"], create: ["owner"], update: ["owner"] })
  .actions({ import: importAction({ upsertBy: "email" }) });

const entities = [user, shelf, tag, book, account] as const;

export interface Library {
  readonly api: ReturnType<typeof open>["api"];
  readonly app: RunningApp;
  readonly statements: string[];
  /** Announced operations, by entity name and kind. */
  readonly committed: string[];
  send(path: string, body: BodyInit | null, init?: SendInit): Promise<Answer>;
  close(): Promise<void>;
}

export interface SendInit {
  /** @default "ann" */
  readonly as?: string | null;
  /** @default text/csv */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a response has no type before a test has checked it
  readonly json: any;
}

export const databases: Readonly<Record<string, () => Promise<{ driver: Driver; remove(): Promise<void> }>>> = {
  async SQLite() {
    const { file, remove } = await freshSqliteFile();
    return { driver: embedded({ file }), remove };
  },
  async PostgreSQL() {
    const { url, drop } = await freshPostgres();
    return { driver: postgres(url), remove: drop };
  },
};

function open(driver: Driver, committed: string[]) {
  const listener = createPlugin({
    id: "listener",
    version: "1.0.0",
    setup: ({ hooks }) =>
      hooks.on(
        "operation:committed",
        ({ entity: { name }, kind }: Operation) => void committed.push(`${name} ${kind}`),
      ),
  });
  const recording = recordStatements(driver);
  const api = keelson({
    entities,
    driver: recording,
    logger: noopLogger,
    plugins: [listener],
    encryption: { key: generateEncryptionKey() },
    limits: { importBytes: 200_000, bodyBytes: 2_000 },
    getUser: (request): User | null => {
      const id = request.headers.get("x-user");
      return id === null ? null : { id, role: id === "adm" ? "admin" : "person" };
    },
  });
  return { api, statements: recording.statements };
}

/** A running library with three people, two shelves and two tags. */
export async function openLibrary(driver: Driver): Promise<Library> {
  const committed: string[] = [];
  const { api, statements } = open(driver, committed);
  const app = await startApp(api);
  const system = api.asSystem();
  for (const id of ["ann", "bob", "adm"]) await system.user.create({ id, name: id });
  await system.shelf.create({ id: "hall", name: "Hall" });
  await system.shelf.create({ id: "cellar", name: "Cellar", cellar: true });
  for (const id of ["old", "new"]) await system.tag.create({ id, name: id });
  return {
    api,
    app,
    statements,
    committed,
    async send(path, body, { as = "ann", type = "text/csv", headers = {} } = {}) {
      const caller = as === null ? {} : { "x-user": as };
      const init = { method: "POST", body, duplex: "half", headers: { "content-type": type, ...caller, ...headers } };
      const response = await fetch(app.url + path, init as RequestInit);
      const answer = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        json: answer === "" ? undefined : JSON.parse(answer),
      };
    },
    close: () => app.close(),
  };
}

/** Joins lines into a text. */
export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\r\n`).join("");
}
