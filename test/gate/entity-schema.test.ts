import { expect, it } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { entity, string } from "../../src/entity/index.ts";
import { createApp, createPlugin, schemaFromEntities } from "../../src/gate/index.ts";
import { noopLogger } from "../../src/kernel/index.ts";

const account = entity("account", {
  role: string.default("user"),
  token: string.omit().default("DEFAULT-TOKEN"),
  pin: string.encrypted().default("DEFAULT-PIN"),
  password: string.password({ cost: 1 }).default("DEFAULT-PASSWORD"),
  grade: string.readable("admin").default("DEFAULT-GRADE"),
  made: string.omit().default(() => "made"),
});

it("a schema hides the defaults of protected fields, and the app still uses them", async () => {
  const schema = schemaFromEntities([account]);
  const fields = schema.entities.account?.fields ?? {};
  expect(JSON.stringify(schema)).not.toContain("DEFAULT-");
  expect(Object.keys(fields)).toEqual(["role", "token", "pin", "password", "grade", "made"]);
  expect(fields.role?.default).toEqual({ value: "user" });
  expect(fields.token).toMatchObject({ omit: true, optional: false });
  expect(fields.token).not.toHaveProperty("default");
  expect(fields.made?.default).toHaveProperty("make");

  const kernel = createApp({
    entities: [],
    driver: memoryDriver(),
    plugins: [createPlugin({ id: "accounts", provides: ["omit", "encrypted", "password", "field-rules"], schema })],
    logger: noopLogger,
  });
  expect(kernel.model.get("account")?.fields.token?.default).toEqual({ value: "DEFAULT-TOKEN" });
  await kernel.close();
});
