/**
 * `npm run mixed-pair -- --with <commit>`: a process of an earlier commit and one of this checkout over one PostgreSQL database,
 * as in a rolling deploy. What one of them stores, the other reads, decrypts, finds, changes, replays and reports.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkOut } from "../test/oracle/check-out.ts";
import { library } from "../test/oracle/library.ts";
import { freshPostgres } from "../test/support/databases.ts";

/** The app of both processes, on a port that its parent is told. */
async function serveApp(url: string): Promise<void> {
  const { action, audit, belongsTo, defineRule, entity, idempotency, int, keelson, manyToMany, postgres } = library;
  const { noopLogger, serve, step, string, verifyPassword } = library;
  const ofTeam = defineRule("mixedOfTeam", ({ user }) => ({ team: { members: { id: user?.id ?? "" } } }));
  const open = { read: ["everyone"], create: ["everyone"], update: ["everyone"] };
  const person = entity("person", { name: string, secret: string.password() })
    .rules(open)
    .actions({
      login: action()
        .onResource()
        .rules("everyone")
        .input({ secret: string })
        .handler(async ({ driver, input, params }) => {
          const found = await driver.findOne("person", { id: params.id });
          return { fits: await verifyPassword(input.secret, String(found?.secret)) };
        }),
    });
  const team = entity("team", { name: string, members: manyToMany(() => person) }).rules(open);
  const card = entity("card", {
    title: string.unique(),
    pin: string.encrypted({ searchable: true }),
    size: int.default(1),
    team: belongsTo(() => team),
  })
    .versioned()
    .rules({ ...open, update: [ofTeam] })
    .actions({
      grow: action()
        .rules("everyone")
        .input({ id: string })
        .workflow([
          step("grow", ({ driver, input }) =>
            driver.update("card", { id: (input as { readonly id: string }).id }, { size: 9 }),
          ),
        ]),
    });
  const api = keelson({
    entities: [person, team, card],
    driver: postgres(url),
    rules: [ofTeam],
    encryption: { key: "a1".repeat(32) },
    plugins: [idempotency({ encrypted: true }), audit({ read: ["everyone"] })],
    logger: noopLogger,
    getUser: ({ headers }) => {
      const id = headers.get("x-user");
      return id === null ? null : { id };
    },
  });
  const { server } = await serve(api, { port: 0, hostname: "127.0.0.1" });
  const address = server.address();
  if (typeof address === "object") process.send?.(address?.port);
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  readonly body: any;
}
type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

async function start(url: string, source: string | undefined): Promise<{ ask: Ask; child: ChildProcess }> {
  const env = { ...process.env, MIXED_URL: url, ...(source !== undefined && { ORACLE_SOURCE: source }) };
  const child = spawn(process.execPath, ["--import", "tsx", fileURLToPath(import.meta.url)], {
    env,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [port] = (await once(child, "message")) as [number];
  const ask: Ask = async (method, path, body, headers = {}) => {
    const init = { method, headers: { "content-type": "application/json", "x-user": "ann", ...headers } };
    const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
      ...init,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };
  return { ask, child };
}

/** What one process stores is held against what the other one makes of it. */
async function exchange(stores: Ask, reads: Ask, mark: string): Promise<void> {
  const { body: ann } = await stores("POST", "/people", { name: "Ann", secret: `secret ${mark}` });
  const as = { "x-user": ann.id };
  assert.deepEqual((await reads("POST", `/people/${ann.id}/login`, { secret: `secret ${mark}` })).body, { fits: true });
  const { body: team } = await stores("POST", "/teams", { name: mark, membersIds: [ann.id] });
  const keyed = { "idempotency-key": mark.replaceAll(" ", "-"), ...as };
  const made = await stores("POST", "/cards", { title: mark, pin: `pin ${mark}`, teamId: team.id }, keyed);
  assert.equal(made.status, 201);
  const again = await reads("POST", "/cards", { title: mark, pin: `pin ${mark}`, teamId: team.id }, keyed);
  assert.deepEqual([again.status, again.body], [made.status, made.body]);
  const read = await reads("GET", `/cards/${made.body.id}`);
  assert.deepEqual(read.body, made.body);
  assert.equal(read.headers.get("etag"), made.headers.get("etag"));
  assert.equal((await reads("GET", `/cards?pin=${encodeURIComponent(`pin ${mark}`)}`)).body[0]?.id, made.body.id);
  const match = { "if-match": String(read.headers.get("etag")), ...as };
  assert.equal((await reads("PATCH", `/cards/${made.body.id}`, { size: 2 }, match)).status, 200);
  assert.equal((await stores("PATCH", `/cards/${made.body.id}`, { size: 3 }, match)).status, 412);
  assert.equal((await reads("PATCH", `/cards/${made.body.id}`, { size: 3 }, { "x-user": "stranger" })).status, 403);
  assert.equal((await reads("POST", "/cards", { title: mark, pin: "x", teamId: team.id }, as)).status, 409);
  const begun = await stores("POST", "/cards/grow", { id: made.body.id }, { prefer: "respond-async", ...as });
  assert.equal(begun.status, 202);
  const report = String(begun.headers.get("location")).replace(/^\/api/, "");
  let state: Answer = await reads("GET", report, undefined, as);
  for (let tries = 0; state.body.status !== "completed" && tries < 50; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    state = await reads("GET", report, undefined, as);
  }
  assert.equal(state.body.status, "completed");
  assert.equal((await reads("GET", `/cards/${made.body.id}`)).body.size, 9);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { with: { type: "string" } } });
  if (values.with === undefined) throw new Error("npm run mixed-pair -- --with <commit>");
  const { url, drop } = await freshPostgres();
  const before = await start(url, checkOut(values.with));
  const now = await start(url, undefined);
  try {
    await exchange(before.ask, now.ask, "stored by the earlier one");
    await exchange(now.ask, before.ask, "stored by this one");
    process.stdout.write(`A process of ${values.with} and one of this checkout work on one database.\n`);
  } finally {
    for (const { child } of [before, now]) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    await drop();
  }
}

const url = process.env.MIXED_URL;
await (url === undefined ? main() : serveApp(url));
