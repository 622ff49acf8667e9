import { describe, expect, it } from "vitest";
import { defineRule, email, entity, int, string, text } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const staff = defineRule("qStaff", ({ user }) => user?.role === "staff");
const person = entity("person", { name: string, mail: email, about: text, secret: string.readable(staff) }).rules({
  read: ["everyone"],
});
const tally = entity("tally", { n: int }).rules({ read: ["everyone"] });

describe("q, without searchable fields", () => {
  it("searches every text that the caller may filter on", async () => {
    const app = createTestApp({ entities: [person, tally] });
    const { person: people, tally: tallies } = app.api.asSystem();
    await people.create({ id: "p1", name: "Ann", mail: "a@b.example", about: "Tea", secret: "gold" });
    await tallies.create({ n: 1 });
    const found = async (path: string, role = "user") =>
      ((await app.as({ id: "x", role }).request("GET", path)).body as unknown[]).length;
    for (const word of ["nn", "B.EX", "tea"]) expect([word, await found(`/api/people?q=${word}`)]).toEqual([word, 1]);
    expect(await found("/api/people?q=p1")).toBe(0);
    expect([await found("/api/people?q=gold"), await found("/api/people?q=gold", "staff")]).toEqual([0, 1]);
    expect(await found("/api/tallies?q=1")).toBe(0);
    await app.close();
  });
});
