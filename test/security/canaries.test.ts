import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyEntity, Logger, RouteListing } from "../../src/index.ts";
import {
  clientsOf,
  createProtectedApp,
  type ProtectedApp,
  SABOTAGE_POINTS,
  seedProtected,
} from "../support/protected/app.ts";
import { type Canaries, createCanaries, protectedFields } from "../support/protected/canaries.ts";
import { protectedEntities } from "../support/protected/entities.ts";
import { FAILING_CALLS, KEY_FORMS } from "../support/protected/failing-calls.ts";
import { RAW_DATABASES, type RawDatabase } from "../support/protected/raw-database.ts";
import { callsOf, includePaths, type RouteCall } from "../support/protected/route-calls.ts";
import { sabotage } from "../support/protected/sabotage.ts";
import { CALLERS, type CallerName, mayRead, READERS, USERS } from "../support/protected/truth.ts";
import { amount, oneOf } from "../support/suite.ts";

// Every protected field contains a string that exists exactly once. Everything the app outputs is searched for all of
// them: each one found must be readable by the caller.

const callers = Object.keys(CALLERS) as CallerName[];

describe("the fixture", () => {
  it("assigns readers to every protected field, and to no other field", () => {
    const isProtected = ({ fields }: AnyEntity, name: string): boolean => {
      const field = fields[name];
      return Boolean(field?.omit || field?.password || field?.encrypted || field?.readable);
    };
    for (const entity of protectedEntities.map((one) => one.build()) as AnyEntity[]) {
      const stricter = entity.rules?.read?.includes("everyone") === false;
      const names = Object.keys(entity.fields).filter((name) => stricter || isProtected(entity, name));
      expect(Object.keys(READERS[entity.name] ?? {}), entity.name).toEqual(names);
    }
  });
});

describe.each(RAW_DATABASES)("canaries on %s", (name, open) => {
  // Each caller and point of failure on one of the databases; on all of them in the long suite.
  const turn = RAW_DATABASES.findIndex(([one]) => one === name);
  const ofThisDatabase = <T>(all: readonly T[]): readonly T[] =>
    all.filter((_, index) => oneOf(index, [...RAW_DATABASES.keys()]).includes(turn));

  let database: RawDatabase;
  let app: ProtectedApp;
  const canaries: Canaries = createCanaries();
  const lines: string[] = [];
  /** The log in development while code of the app throws: it shows the messages of such errors. */
  const messages: string[] = [];
  let log = lines;
  const write = (message: string, meta?: unknown): void => void log.push(`${message} ${shown(meta)}`);
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  /** Canaries of the seed that each caller received. */
  const seen = new Map<CallerName, Set<string>>(callers.map((caller) => [caller, new Set()]));

  beforeAll(async () => {
    database = await open();
    app = createProtectedApp(database.driver(), logger);
    await app.api.ready;
    await seedProtected(app, canaries);
  });
  afterAll(async () => {
    sabotage.arm();
    await app.close();
    await database.drop();
  });

  /** The complete response: status, headers, body, and the decoded cursor. */
  async function answerTo(caller: CallerName, { method, path, body }: RouteCall) {
    const { status, headers, body: answer } = await app.as(CALLERS[caller]).request(method, path, body);
    // Links to other pages repeat the request's own query.
    const query = new Set(path.split("?")[1]?.split("&"));
    const link = headers.get("link")?.split(/[?&]/);
    if (link !== undefined) headers.set("link", link.filter((part) => !query.has(part)).join("&"));
    const cursor = Buffer.from(headers.get("x-next-cursor") ?? "", "base64url").toString("utf8");
    const text = [shown(Object.fromEntries(headers)), cursor, JSON.stringify(answer)].join("\n");
    return { status, text };
  }

  /** Sends a request; its response may contain only the caller's canaries, and an error none at all. */
  async function check(caller: CallerName, call: RouteCall): Promise<number> {
    const { status, text } = await answerTo(caller, call);
    const at = `${caller} ${call.method} ${call.path} ${JSON.stringify(call.body)?.slice(0, 300)} -> ${status}`;
    expect({ at, leaks: canaries.leaksIn(text, status < 400 ? caller : null) }).toEqual({ at, leaks: [] });
    expect(secretsIn(text), at).toEqual([]);
    for (const canary of canaries.find(text)) seen.get(caller)?.add(canary.text);
    return status;
  }

  const secretsIn = (text: string): string[] => {
    const lower = text.toLowerCase();
    return [...KEY_FORMS, database.password].filter((secret) => lower.includes(secret.toLowerCase()));
  };

  it("has a recipe to call every route of the app", () => {
    const world = { app, canaries, caller: "anonymous" } as const;
    const unknown = app.api.routes.filter((route) => callsOf(route, world) === undefined);
    expect(unknown.map(({ method, path, plugin }) => `${plugin}: ${method} ${path}`)).toEqual([]);
  });

  // Reads come first, because their responses are compared with the initial data.
  const isReading = ({ method }: RouteListing): boolean => method === "GET";

  it.each(ofThisDatabase(callers))(
    "no route that reads shows %s other users' values, and all show their own",
    async (caller) => {
      const initial = canaries.all.slice(0, SEEDED);
      const statuses = new Set<number>();
      let turn = 0;
      // Each query by one of the callers; by all of them in the long suite.
      const isTheirs = ({ path }: RouteCall): boolean => !path.includes("?") || oneOf(turn++, callers).includes(caller);
      for (const route of app.api.routes.filter(isReading))
        for await (const call of callsOf(route, { app, canaries, caller }) ?? [])
          if (isTheirs(call)) statuses.add(await check(caller, call));
      const theirs = initial.filter(({ reader, facts }) => mayRead(caller, reader, facts)).map(({ text }) => text);
      expect([...(seen.get(caller) ?? [])].sort()).toEqual(theirs.sort());
      expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 204, 400, 405]));
    },
  );

  describe("code of the app that throws the value it handles", () => {
    const errorsAt = (point: string): readonly unknown[] => {
      const everything = canaries.all.slice(0, SEEDED).map(({ text }) => text);
      const message = `value ${everything.join("\n    at ")}`;
      const cause = new RangeError(message);
      const errors = [new TypeError(message, { cause }), message, { message, toJSON: () => message }];
      return oneOf(SABOTAGE_POINTS.indexOf(point), errors);
    };
    beforeAll(() => {
      log = messages;
    });
    afterAll(() => {
      log = lines;
    });

    const points = ofThisDatabase(SABOTAGE_POINTS);

    it.each(points)("leaks nothing when it is in the %s", async (point) => {
      for (const error of errorsAt(point)) {
        sabotage.arm(point, error);
        for (const [index, call] of FAILING_CALLS.entries()) {
          const body = call.body === undefined ? {} : { body: { ...call.body, ssn: `ssn ${point} ${index}` } };
          for (const caller of ["ann", "root"] as const) await check(caller, { ...call, ...body });
        }
        expect(sabotage.thrown).toBeGreaterThan(0);
        sabotage.arm();
      }
    });

    it("writes nothing of the value to the log in production", async () => {
      log = lines;
      const deployed = createProtectedApp(database.driver(), logger, undefined, true);
      await deployed.api.ready;
      for (const point of points) {
        const before = lines.length;
        for (const error of errorsAt(point)) {
          sabotage.arm(point, error);
          // A hash for production takes long; it is usually needed only if the other calls, before it, do not suffice.
          for (const { method, path, body } of FAILING_CALLS)
            if (method !== "POST" || amount(sabotage.thrown === 0, true))
              await deployed.as(CALLERS.ann).request(method, path, body && { ...body, ssn: `ssn ${point} ${path}` });
          sabotage.arm();
        }
        expect([point, canaries.leaksIn(lines.slice(before).join("\n"), null)]).toEqual([point, []]);
      }
      await deployed.close();
    });
  });

  it.each(ofThisDatabase(callers))(
    "no route that writes shows %s another user's values",
    {
      timeout: 120_000,
    },
    async (caller) => {
      const statuses = new Set<number>();
      for (const route of app.api.routes.filter((one) => !isReading(one)))
        for await (const call of callsOf(route, { app, canaries, caller }) ?? [])
          statuses.add(await check(caller, call));
      expect([...statuses].sort()).toEqual(expect.arrayContaining([...STATUSES[caller]]));
    },
  );

  it.each(ofThisDatabase(["system", ...USERS] as const))(
    "the in-process client shows %s what a response would",
    async (who) => {
      const clients = clientsOf(app, who);
      // The system sees every value that some caller may see.
      const leaksIn = (value: unknown): string[] => {
        const text = `${JSON.stringify(value)} ${shown(value)}`;
        if (who !== "system") return canaries.leaksIn(text, who);
        const hidden = canaries.find(text).filter(({ entity, field }) => HIDDEN.has(`${entity}.${field}`));
        return [...hidden.map(({ field }) => field), ...canaries.leaksIn(text.replace(/cnry|77|2077/g, ""), null)];
      };
      let count = 0;
      for (const entity of Object.values(app.api.entities) as AnyEntity[]) {
        const client = clients[entity.name];
        for (const [index, path] of includePaths(app, entity, 2).entries()) {
          // Each path as one of them; as all of them in the long suite.
          if (!oneOf(index, ["system", ...USERS]).includes(who)) continue;
          const list = await client?.list({ include: [path] as never }).catch((error: unknown) => error);
          expect(leaksIn(list), `${entity.name} ${path}`).toEqual([]);
          count += (list as { data?: unknown[] }).data?.length ?? 0;
        }
        for (const id of USERS) {
          const key = entity.name === "person" ? id : `${entity.name}-${id}`;
          for (const call of [() => client?.get(key), () => client?.update(key, {})])
            expect(leaksIn(await call()?.catch((error: unknown) => error)), `${entity.name} ${key}`).toEqual([]);
        }
      }
      expect(count).toBeGreaterThan(20);
    },
  );

  it("a value that cannot be decrypted leaks nothing and fails the requests for it", async () => {
    await clientsOf(app, "system").person?.update("ann", { diary: "as it should be" } as never);
    const [row] = await database.query(`SELECT "diary" FROM "person" WHERE "id" = 'ann'`);
    const stored = String(row?.diary);
    const broken = [PLAINTEXT, stored.replace("new:", "lost:"), stored.replace("new:", "old:"), `${stored}x`];
    for (const [index, value] of broken.entries()) {
      await database.query(`UPDATE "person" SET "diary" = '${value}' WHERE "id" = 'ann'`);
      // Each caller meets one of them on each database, and another on the next.
      for (const caller of oneOf(index + turn, callers)) {
        for (const path of [
          "/api/people?id=ann",
          "/api/people/ann",
          "/api/notes?id=note-ann&include=author.friends",
          "/raw/find",
        ]) {
          expect(await check(caller, { method: "GET", path }), path).toBe(500);
          const { text } = await answerTo(caller, { method: "GET", path });
          expect(text).toContain("DECRYPTION_FAILED");
          expect(text).not.toContain(PLAINTEXT);
        }
        expect(await check(caller, { method: "GET", path: "/api/people/ann?select=name" })).toBe(200);
      }
    }
    await database.query(`UPDATE "person" SET "diary" = '${stored}' WHERE "id" = 'ann'`);
    expect(await check("ann", { method: "GET", path: "/api/people" })).toBe(200);
  });

  it("the app object exposes no key, database password or record", () => {
    const everything = [shown(app.api), shown(app.api.container), shown(app.api.driver), JSON.stringify(app.api)];
    for (const text of everything) {
      expect(canaries.leaksIn(text, null)).toEqual([]);
      expect(secretsIn(text)).toEqual([]);
    }
    expect(everything[0]?.length).toBeGreaterThan(1_000);
  });

  it("the log has many entries, and contains no protected value", () => {
    expect(lines.length).toBeGreaterThan(80);
    const text = lines.join("\n");
    expect(canaries.leaksIn(text, null)).toEqual([]);
    expect(secretsIn(text)).toEqual([]);
    expect(text).not.toContain(PLAINTEXT);
    expect(messages.length).toBeGreaterThan(80);
    expect(secretsIn(messages.join("\n"))).toEqual([]);
  });

  it("the database stores no password and no encrypted value in clear", async () => {
    const dump = await database.dump();
    const stored = canaries.formsIn(dump);
    const found = new Set(canaries.all.filter(({ text }) => stored.has(text)).map(at));
    const inClear = canaries.all.filter(({ entity, field }) => {
      const { password, encrypted } = definitionOf(entity, field);
      return password === undefined && encrypted === undefined;
    });
    const isStoredInClear = (name: string): boolean => inClear.some((canary) => at(canary) === name);
    expect([...found].filter((name) => !isStoredInClear(name))).toEqual([]);
    // Proves that the search works.
    expect(found).toEqual(new Set(inClear.map(at)));
    expect(dump).toContain("$pbkdf2$2000$");
    expect(secretsIn(dump)).toEqual([]);
  });
});

/** A diary from before the field was encrypted. */
const PLAINTEXT = "dear diary, today";
const HIDDEN = new Set(["person.password", "person.apiToken", "person.recovery", "note.token", "badge.pin"]);
/** Protected values of three people, and of a note, a badge and a vault of each. */
const SEEDED = 3 * Object.values(READERS).reduce((sum, fields) => sum + Object.keys(fields).length, 0);
/** Proves that every kind of response was among those that were searched. */
const STATUSES: Readonly<Record<CallerName, readonly number[]>> = {
  anonymous: [201, 400, 401, 409],
  ann: [200, 201, 400, 403, 409],
  bob: [200, 201, 400, 403, 409],
  root: [200, 201, 400, 404, 409],
};

function shown(value: unknown): string {
  return inspect(value, { depth: 20, showHidden: true, maxArrayLength: null, maxStringLength: null });
}

function at({ entity, field }: { readonly entity: string; readonly field: string }): string {
  return `${entity}.${field}`;
}

function definitionOf(entity: string, field: string) {
  const built = protectedEntities.find(({ name }) => name === entity)?.build() as AnyEntity;
  expect(protectedFields(built)).toContain(field);
  return built.fields[field] ?? expect.fail(`${entity} has no field ${field}`);
}
