import { afterAll, describe, expect, it } from "vitest";
import { createPlugin, entity, keelson, memoryDriver, noopLogger, string } from "../../../src/index.ts";

const member = entity("member", { name: string, team: string, token: string.omit() }).rules({ read: ["everyone"] });
const api = keelson({
  entities: [member],
  driver: memoryDriver({
    member: [
      { id: "ann", name: "Ann", team: "red", token: "t1" },
      { id: "bob", name: "Bob", team: "blue", token: "t2" },
    ],
  }),
  // The kernel itself hides such fields from callers.
  plugins: [createPlugin({ id: "omit" })],
  logger: noopLogger,
});
afterAll(() => api.close());

describe("the in-process client", () => {
  it("finds records for the system by a field that callers never see", async () => {
    const { data } = await api.asSystem().member.list({ where: { token: "t2" }, select: ["name"] });
    expect(data).toEqual([{ id: "bob", name: "Bob" }]);
    expect(await api.asSystem().member.count({ token: { in: ["t1", "t2"] } })).toBe(2);
  });

  it("refuses a user's condition on such a field", async () => {
    const members = api.as({ id: "u1" }).member;
    // @ts-expect-error only the system may
    await expect(members.list({ where: { token: "t2" } })).rejects.toMatchObject({ status: 400 });
    // @ts-expect-error only the system may
    await expect(members.count({ token: "t2" })).rejects.toMatchObject({ status: 400 });
  });

  it("returns the id and the selected fields, in the requested order", async () => {
    const { data } = await api.as({ id: "u1" }).member.list({ sort: ["-name"], select: ["team"] });
    expect(data).toEqual([
      { id: "bob", team: "blue" },
      { id: "ann", team: "red" },
    ]);
    expect(await api.as({ id: "u1" }).member.get("ann", { select: ["team"] })).toEqual({ id: "ann", team: "red" });
  });
});
