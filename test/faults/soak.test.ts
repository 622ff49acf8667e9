import { describe, expect, it } from "vitest";
import { soak } from "../../bench/soak/soak.ts";
import { soakTable } from "../../bench/soak/soak-results.ts";
import { childProgram } from "../support/child-program.ts";
import { amount } from "../support/suite.ts";

const REQUESTS = amount(400, 700);
const SOUND = [await childProgram(new URL("../../bench/soak/server.child.ts", import.meta.url))];
const FAULTY = [await childProgram(new URL("../support/faults/soaked.child.ts", import.meta.url))];

describe("a soak", () => {
  it.each(["embedded", "postgres"] as const)("of a correct server on %s finds nothing", async (database) => {
    const result = await soak({ database, requests: REQUESTS, server: SOUND, lanes: 8, samples: 12 });
    expect(result.faults).toEqual([]);
    expect(result.requests).toBeGreaterThanOrEqual(REQUESTS);
    expect(result.acknowledgedWrites).toBeGreaterThan(REQUESTS / 7);
    for (const kind of ["get", "list", "include", "count", "create", "delete", "action", "bad request", "abandoned"])
      expect([kind, (result.kinds[kind] ?? 0) > 0]).toEqual([kind, true]);
    for (const status of [200, 201, 304, 400, 401, 404, 412])
      expect([status, (result.statuses[status] ?? 0) > 0]).toEqual([status, true]);
    expect(soakTable([result])).toContain("| acknowledged writes |");
  });

  it("finds memory leaks, open files, defects and lost writes", async () => {
    const { faults, lostWrites, serverErrors } = await soak({
      database: "embedded",
      requests: 700,
      server: FAULTY,
      lanes: 8,
      samples: 12,
    });
    expect(lostWrites).toBeGreaterThan(0);
    expect(serverErrors).toBeGreaterThan(0);
    for (const words of [
      "answers are 5xx",
      "answers are wrong",
      "acknowledged writes are not in the database",
      "the heap has grown by",
      "more files are open than at the start",
    ])
      expect([words, faults.some((fault) => fault.includes(words))]).toEqual([words, true]);
  });
});
