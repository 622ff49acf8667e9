import { describe, expect, it } from "vitest";
import { embedded, keelson } from "../../../src/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { customer, keepingLog, serviceOf, titled } from "./shop.ts";

describe("a write that includes remote records", () => {
  it("is committed before their service is called, so that it holds no lock", async () => {
    const { file, remove } = await freshSqliteFile();
    const asked = deferred<void>();
    const answer = deferred<void>();
    const billing = serviceOf(async ({ ids }) => {
      asked.resolve();
      await answer.promise;
      return titled(ids);
    });
    const api = keelson({
      entities: [customer],
      driver: embedded({ file }),
      services: { billing: () => billing },
      logger: keepingLog().logger,
    });
    try {
      await api.ready;
      const request = new Request("http://shop.invalid/api/customers?include=subscription", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "Ann", subscriptionId: "s1" }),
      });
      const created = api.fetch(request);
      await asked.promise;
      // SQLite has one writer: a transaction that is still open would block this write.
      await api.asSystem().customer.create({ name: "Bob" });
      expect(await api.asSystem().customer.count({ name: "Ann" })).toBe(1);
      answer.resolve();
      const response = await created;
      expect(response.status).toBe(201);
      expect(await response.json()).toMatchObject({ name: "Ann", subscription: { title: "title of s1" } });
    } finally {
      answer.resolve();
      await api.close();
      await remove();
    }
  });
});
