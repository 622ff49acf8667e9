import { expect, it, onTestFinished } from "vitest";
import { entity, string } from "../../../src/entity/index.ts";
import type { OperationScope } from "../../../src/gate/index.ts";
import { createPlugin } from "../../../src/gate/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const account = entity("account", {
  name: string,
  token: string.omit().optional(),
  password: string.password({ cost: 1 }).optional(),
}).rules({ create: ["everyone"], read: ["everyone"] });

async function answer(handler: (scope: OperationScope) => unknown): Promise<unknown> {
  const app = createTestApp({
    entities: [account],
    plugins: [
      createPlugin({
        id: "returning",
        version: "1.0.0",
        endpoints: {
          run: { path: "/run", method: "GET", rules: ["everyone"], handler: ({ scope }) => handler(scope) },
        },
      }),
    ],
  });
  onTestFinished(() => app.close());
  const { status, body } = await app.as({ id: "u", session: "canary" }).request("GET", "/run");
  expect(status).toBe(200);
  return body;
}

const create = (scope: OperationScope) =>
  scope.run({ kind: "create", entity: "account", data: { name: "n", token: "t-1", password: "correct horse" } });

it.each<[string, (scope: OperationScope) => unknown, (records: unknown) => unknown]>([
  ["itself", create, (records) => records],
  ["in an object", async (scope) => ({ done: await create(scope) }), (done) => ({ done })],
  ["spread", async (scope) => ({ ...(await create(scope)) }), (records) => records],
])("an operation that a handler returns %s responds with its records only", async (_, run, expected) => {
  const body = await answer(run);
  expect(body).toEqual(expected([expect.objectContaining({ name: "n" })]));
  expect(JSON.stringify(body)).not.toMatch(/pbkdf2|t-1|canary|correct horse|principal|decision/);
});
