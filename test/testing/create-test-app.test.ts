import { expect, it } from "vitest";
import { entity, memoryDriver, noopLogger, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

const note = entity("note", { text: string }).rules({ read: ["everyone"] });

it("an app under test keeps its records in memory by default", async () => {
  const app = createTestApp({ entities: [note], logger: noopLogger });
  expect(app.api.driver.name).toBe("memory");
  expect(await app.as(null).request("GET", "/api/notes")).toMatchObject({ status: 200, body: [] });
  await app.close();
  const driver = memoryDriver();
  const given = createTestApp({ entities: [note], driver, logger: noopLogger });
  expect(given.api.driver).toBe(driver);
  await given.close();
});
