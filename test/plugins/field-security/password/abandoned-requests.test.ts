import { describe, expect, it, onTestFinished } from "vitest";
import {
  createPlugin,
  endpoint,
  entity,
  fieldSecurity,
  keelson,
  memoryDriver,
  noopLogger,
  type PasswordHasher,
  string,
} from "../../../../src/index.ts";
import { hashingOf } from "./hashers.ts";

const everyone = { create: ["everyone"], update: ["everyone"] };
const user = entity("user", {
  password: string.password({ cost: 1 }),
  pin: string.password({ cost: 1 }).optional(),
}).rules(everyone);

/** Hashes one password at a time, with a queue of this length. */
async function start(queue: number) {
  const login = endpoint("/login", {
    method: "POST",
    rules: ["everyone"],
    handler: ({ scope }) =>
      scope.services
        .resolve<PasswordHasher>("field-security.passwords")
        .verify("correct horse", null, { cost: 1, signal: scope.exchange?.signal }),
  });
  const api = keelson({
    entities: [user],
    driver: memoryDriver({ user: [{ id: "a", password: "!" }] }),
    logger: noopLogger,
    plugins: (defaults) =>
      defaults
        .replace("field-security", fieldSecurity({ passwords: { concurrency: 1, queue } }))
        .with(createPlugin({ id: "login", requires: ["password"], endpoints: { login } })),
  });
  onTestFinished(() => api.close());
  await api.ready;
  const hasher = api.resolve<PasswordHasher>("field-security.passwords");
  const passwords = async () => (await api.driver.findMany("user")).map(({ password }) => password);
  return {
    passwords,
    /** Occupies the only slot. */
    busy: () => hasher.hash("something else", { cost: 9 }),
    async send(method: string, path: string, { signal, ...body }: { signal?: AbortSignal; [name: string]: unknown }) {
      const headers = { "content-type": "application/json" };
      const parsed = { kind: "parsed", value: body } as const;
      return (await api.handle({ method, url: path, headers, body: parsed, signal })).status;
    },
  };
}

const password = "correct horse";

describe("a request whose client has disconnected", () => {
  it.each([
    ["a create", "POST", "/api/users"],
    ["an update", "PATCH", "/api/users/a"],
    ["a login", "POST", "/login"],
  ])("gives its place in the queue to the next: %s", async (_, method, path) => {
    const app = await start(1);
    const caller = new AbortController();
    const busy = app.busy();
    const kinds = await hashingOf(async () => {
      const gone = app.send(method, path, { password, signal: caller.signal });
      expect(await app.send(method, path, { password })).toBe(503);
      caller.abort();
      expect(await gone).toBe(503);
      const next = app.send("POST", "/api/users", { password });
      await busy;
      expect(await next).toBe(201);
    });
    expect(kinds).toEqual(["PBKDF2REQUEST"]);
    expect(await app.passwords()).toHaveLength(2);
  });

  it("releases all its places", async () => {
    const app = await start(2);
    const caller = new AbortController();
    const busy = app.busy();
    const gone = app.send("POST", "/api/users", { password, pin: "12345678", signal: caller.signal });
    expect(await app.send("POST", "/api/users", { password })).toBe(503);
    caller.abort();
    expect(await gone).toBe(503);
    const next = app.send("POST", "/api/users", { password, pin: "12345678" });
    await busy;
    expect(await next).toBe(201);
  });

  it("is not hashed if it was aborted before it began", async () => {
    const app = await start(1);
    const kinds = await hashingOf(async () => {
      expect(await app.send("POST", "/api/users", { password, signal: AbortSignal.abort() })).toBe(503);
    });
    expect(kinds).toEqual([]);
    expect(await app.passwords()).toHaveLength(1);
  });
});
