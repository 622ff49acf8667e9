import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { action, entity, keelson, memoryDriver, noopLogger, string } from "../../src/index.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { startApp } from "../support/http.ts";

const rules = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
let rung = 0;
const note = entity("note", { text: string })
  .rules(rules)
  .actions({ ring: action().handler(() => ({ rung: ++rung })) });
const api = keelson({
  entities: [note],
  driver: memoryDriver(),
  plugins: [idempotency()],
  getUser: () => ({ id: "ann" }),
  logger: noopLogger,
});

let baseUrl: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const app = await startApp(api);
  baseUrl = `${app.url}/api`;
  close = app.close;
});
afterAll(() => close());

it("a repeated call with its idempotencyKey returns the same, and runs once", async () => {
  const client = createClient<typeof api>({ baseUrl });
  const idempotencyKey = crypto.randomUUID();
  const first = await client.note.create({ text: "once" }, { idempotencyKey });
  expect(await client.note.create({ text: "once" }, { idempotencyKey })).toEqual(first);
  expect(await client.note.count()).toBe(1);
  expect(await client.note.ring(undefined, { idempotencyKey: "ring" })).toEqual({ rung: 1 });
  expect(await client.note.ring(undefined, { idempotencyKey: "ring" })).toEqual({ rung: 1 });
  await client.note.delete(first.id, { idempotencyKey: "gone" });
  await client.note.delete(first.id, { idempotencyKey: "gone" });
  await expect(client.note.delete(first.id)).rejects.toMatchObject({ status: 404 });
});

it("a key that was used for another call is refused", async () => {
  const client = createClient<typeof api>({ baseUrl });
  await client.note.create({ text: "one" }, { idempotencyKey: "k" });
  await expect(client.note.create({ text: "two" }, { idempotencyKey: "k" })).rejects.toMatchObject({
    status: 422,
    code: "IDEMPOTENCY_KEY_REUSED",
  });
});
