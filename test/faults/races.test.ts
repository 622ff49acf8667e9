import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { belongsTo, email, entity, int, json, keelson, noopLogger, postgres, string } from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { request, startApp } from "../support/http.ts";

const account = entity("account", { email: email.unique().lower(), name: string, logins: int.default(0) }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: ["everyone"],
});
const span = entity("span", { from: int, to: int })
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] })
  .validate(({ from = 0, to = 0 }) => from <= to, "must not end before it begins", { fields: ["to"] });
const box = entity("box", { size: int, limits: json })
  .timestamps(false)
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] })
  .validate(({ size = 0, limits }) => size <= (limits as { max: number }).max, "must fit", { fields: ["size"] });
const member = entity("member", { account: belongsTo(() => account), team: string })
  .unique(["accountId", "team"])
  .rules({ read: ["everyone"], create: ["everyone"] });

let url: string;
const cleanups: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  const database = await freshPostgres();
  const api = keelson({ entities: [account, member, span, box], driver: postgres(database.url), logger: noopLogger });
  const app = await startApp(api);
  url = app.url;
  cleanups.push(app.close, database.drop);
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const fifty = <T>(make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 50 }, (_, i) => make(i)));
const tally = (answers: readonly { status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe("races on PostgreSQL", () => {
  it("of 50 creates with one unique value one succeeds, and 49 get the taken field", async () => {
    const answers = await fifty((i) =>
      request(url, "POST", "/api/accounts", { body: { email: "One@x.org", name: `N${i}` } }),
    );
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
    for (const { status, json } of answers)
      if (status === 409) expect(json).toMatchObject({ code: "CONFLICT", errors: { email: "is already taken" } });
    expect((await request(url, "GET", "/api/accounts?email=one@x.org")).json).toHaveLength(1);
  });

  it("of 50 updates to one unique value one succeeds", async () => {
    const made = await fifty((i) =>
      request(url, "POST", "/api/accounts", { body: { email: `u${i}@x.org`, name: "N" } }),
    );
    const answers = await Promise.all(
      made.map(({ json }) =>
        request(url, "PUT", `/api/accounts/${(json as { id: string }).id}`, { body: { email: "two@x.org" } }),
      ),
    );
    expect(tally(answers)).toEqual({ 200: 1, 409: 49 });
  });

  it("of updates that together would violate a cross-field rule, the first succeed", async () => {
    const made = await fifty(() => request(url, "POST", "/api/spans", { body: { from: 1, to: 10 } }));
    const statuses = await Promise.all(
      made.map(async ({ json }) => {
        const path = `/api/spans/${(json as { id: string }).id}`;
        const answers = await Promise.all([
          request(url, "PATCH", path, { body: { from: 9 } }),
          request(url, "PATCH", path, { body: { to: 2 } }),
        ]);
        const { from, to } = (await request(url, "GET", path)).json as { from: number; to: number };
        expect(from).toBeLessThanOrEqual(to);
        return answers.map(({ status }) => status).sort();
      }),
    );
    expect(statuses).toEqual(Array(50).fill([200, 400]));
  });

  it("of updates that together would violate a rule about JSON, the first succeed", async () => {
    const made = await fifty(() => request(url, "POST", "/api/boxes", { body: { size: 1, limits: { max: 10 } } }));
    const statuses = await Promise.all(
      made.map(async ({ json: { id } }) => {
        const path = `/api/boxes/${id}`;
        const answers = await Promise.all([
          request(url, "PATCH", path, { body: { size: 9 } }),
          request(url, "PATCH", path, { body: { limits: { max: 2 } } }),
        ]);
        const { size, limits } = (await request(url, "GET", path)).json as { size: number; limits: { max: number } };
        expect(size).toBeLessThanOrEqual(limits.max);
        return answers.map(({ status }) => status).sort();
      }),
    );
    expect(statuses).toEqual(Array(50).fill([200, 400]));
  });

  it("of 50 creates of one combination one succeeds, and both fields are named", async () => {
    const { json } = await request(url, "POST", "/api/accounts", { body: { email: "three@x.org", name: "N" } });
    const accountId = (json as { id: string }).id;
    const answers = await fifty(() => request(url, "POST", "/api/members", { body: { accountId, team: "red" } }));
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
    const refused = answers.find(({ status }) => status === 409);
    expect(Object.keys(refused?.json.errors ?? {}).sort()).toEqual(["accountId", "team"]);
  });
});
