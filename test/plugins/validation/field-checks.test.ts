import { afterAll, describe, expect, it } from "vitest";
import { action, entity, memoryDriver, noopLogger, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

// The declared input and query of actions are validated by the same field definitions as records.

const task = entity("task", { title: string })
  .rules({ create: ["everyone"], read: ["everyone"] })
  .actions({
    given: action()
      .input({ title: string.optional() })
      .handler(({ input }) => input),
  });
const app = createTestApp({ entities: [task], driver: memoryDriver(), logger: noopLogger });
afterAll(() => app.close());

async function errorsOf(body: object): Promise<Readonly<Record<string, string>>> {
  const answer = await app.as(null).request("POST", "/api/tasks/given", body);
  expect(answer.status).toBe(400);
  return (answer.body as { errors: Record<string, string> }).errors;
}

describe("a body full of unknown names", () => {
  it("is reported up to twenty names, in addition to invalid fields", async () => {
    const body = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`titel${i}`, 1]));
    const errors = await errorsOf({ ...body, title: 5 });
    expect(Object.keys(errors)).toHaveLength(21);
    expect(errors.titel9).toContain('did you mean "title"?');
    expect(errors.titel20).toBeUndefined();
    expect(errors.title).toBeDefined();
  });

  it("is quoted in short", async () => {
    const [name = ""] = Object.keys(await errorsOf({ [`x${"y".repeat(10_000)}`]: 1 }));
    expect(name).toHaveLength(65);
    expect(name.endsWith("…")).toBe(true);
  });
});
