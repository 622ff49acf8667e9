import { afterAll, describe, expect, it } from "vitest";
import { entity, type Row, type StringField, string } from "../../../src/index.ts";
import type { FieldDefinition } from "../../../src/plugin.ts";
import { createHandlerApp } from "./handler-app.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };

/** The four layers of spec 2.4 rule 12, as functions. */
const LAYERS: Readonly<Record<string, (field: StringField) => StringField>> = {
  encrypted: (field) => field.encrypted(),
  readable: (field) => field.readable("admin") as StringField,
  writable: (field) => field.writable("admin"),
  omit: (field) => field.omit() as StringField,
};

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}
const build = (names: readonly string[]): StringField =>
  names.reduce<StringField>((field, name) => (LAYERS[name] ?? expect.fail(name))(field), string);

describe("the modifiers that protect a field", () => {
  const orders = permutations(Object.keys(LAYERS));

  it("mean the same in any order", () => {
    const plain = ({ ruleObjects, ...rest }: FieldDefinition): object => ({ ...rest, ruleObjects: { ...ruleObjects } });
    const definitions = orders.map((order) => plain(build(order).definition));
    expect(definitions).toHaveLength(24);
    for (const definition of definitions) expect(definition).toEqual(definitions[0]);
  });

  it("do the same in any order", async () => {
    const fields = Object.fromEntries(orders.map((order, index) => [`f${index}`, build(order).optional()]));
    const app = createHandlerApp({
      entities: [entity("doc", fields).rules(everyone)],
      encryption: { key: "22".repeat(32) },
    });
    afterAll(() => app.close());
    const values = Object.fromEntries(Object.keys(fields).map((name) => [name, `value of ${name}`]));
    const root = app.as({ id: "root", role: "admin" });
    const made = await root.request("POST", "/api/docs", values);
    expect(Object.keys(made.body as object)).toEqual(["id", "createdAt", "updatedAt"]);
    const { id } = made.body as { id: string };
    const raw = (await app.api.driver.findOne("doc", { id })) as Row;
    for (const name of Object.keys(fields)) expect(raw[name]).toMatch(/^v1:/);
    const changed = await app.as({ id: "ann" }).request("PATCH", `/api/docs/${id}`, values);
    expect(changed.status).toBe(400); // neither readable nor writable for ann: unknown names
    expect(changed.headers.get("x-ignored-fields")).toBeNull();
    const { value } = await app.inHandler(async ({ driver }) => {
      const record = (await driver.findOne("doc", { id })) as Row;
      return Object.keys(fields).map((name) => [record[name], Object.keys(record).includes(name)]);
    });
    expect(value).toEqual(Object.values(values).map((one) => [one, false]));
  });
});
