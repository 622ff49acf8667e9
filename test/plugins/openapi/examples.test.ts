import { Validator } from "@seriousme/openapi-schema-validator";
import { type Keelson, memoryDriver, noopLogger } from "keelson";
import { openapiDocument } from "keelson/openapi";
import openapiTypescript from "openapi-typescript";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFilms } from "../../../examples/films/api.ts";
import { createNotes } from "../../../examples/notes/api.ts";
import { createOrders } from "../../../examples/orders/api.ts";
import { createBilling } from "../../../examples/remote-join/billing/api.ts";
import { createShop } from "../../../examples/remote-join/shop/api.ts";
import { freshSqliteFile } from "../../support/databases.ts";

const secret = "x".repeat(32);

async function films() {
  const { file, remove } = await freshSqliteFile();
  onTestFinished(remove);
  return createFilms({ file, secrets: { tokens: secret, encryption: "ab".repeat(32) }, logger: noopLogger });
}

const EXAMPLES: Readonly<Record<string, () => Promise<Pick<Keelson, "hasService" | "resolve" | "close">>>> = {
  films,
  notes: async () => createNotes({ driver: memoryDriver(), logger: noopLogger }),
  orders: async () => createOrders({ driver: memoryDriver(), logger: noopLogger }),
  "the shop of two services": async () => createShop({ billing: "http://127.0.0.1:1", secret, logger: noopLogger }),
  "the billing of two services": async () => createBilling({ secret, logger: noopLogger }),
};

const READERS = { nobody: "public", "a user": { id: "ann" }, "the system": "system" } as const;

describe.each(Object.entries(EXAMPLES))("the document of %s", (_, create) => {
  it("is valid for all, can be turned into types, and shows only a caller's rights", async () => {
    const api = await create();
    onTestFinished(() => api.close());
    const all = await openapiDocument(api);
    for (const [reader, as] of Object.entries(READERS)) {
      const document = await openapiDocument(api, { as });
      const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
      expect([reader, valid ? [] : errors]).toEqual([reader, []]);
      for (const [path, item] of Object.entries(document.paths))
        for (const method of Object.keys(item)) expect(all.paths[path]).toHaveProperty(method);
    }
    expect((await openapiTypescript(JSON.stringify(all))).length).toBeGreaterThan(0);
  });
});
