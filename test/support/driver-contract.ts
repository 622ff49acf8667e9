import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import type { Driver } from "../../src/gate/index.ts";
import { describeConditions } from "./driver-contract/conditions.ts";
import { describeConstraints } from "./driver-contract/constraints.ts";
import {
  type Database,
  type DriverUnderTest,
  empty,
  type MakeDriver,
  type Shortcomings,
} from "./driver-contract/database.ts";
import { describeLinks } from "./driver-contract/links.ts";
import { describeProperties } from "./driver-contract/properties.ts";
import { describeReads } from "./driver-contract/reads.ts";
import { describeTransactions } from "./driver-contract/transactions.ts";
import { describeValues } from "./driver-contract/values.ts";
import { describeWrites } from "./driver-contract/writes.ts";
import { fixtureEntities } from "./entities.ts";
import { oneOf } from "./suite.ts";

const SUITES = [
  describeValues,
  describeConditions,
  describeReads,
  describeWrites,
  describeConstraints,
  describeLinks,
  describeTransactions,
  describeProperties,
];

/**
 * The contract of all drivers: what the port promises, for every kind of value, condition, constraint and race.
 * @param name Name of the suite.
 * @param make Returns a connected driver whose tables for these entities exist and are empty. Called once.
 * @param shortcomings Known limitations of the database; the suite then checks the documented behaviour instead.
 */
export function testDriver(name: string, make: MakeDriver, shortcomings: Shortcomings = {}): void {
  describe(`driver contract: ${name}`, () => {
    let made: DriverUnderTest | undefined;
    const database: Database = {
      ...shortcomings,
      stored: "nothing",
      keepsBlog: false,
      get driver(): Driver {
        if (made === undefined) throw new Error(`no driver was made for ${name}`);
        return made.driver;
      },
    };
    beforeAll(async () => {
      made = await make(fixtureEntities);
    });
    beforeEach(async () => {
      if (database.keepsBlog && database.stored === "blog") return;
      await (made?.empty?.() ?? empty(database.driver));
      database.stored = "nothing";
    });
    afterAll(async () => made?.close());

    const { turn } = shortcomings;
    for (const [index, suite] of SUITES.entries())
      if (turn === undefined || oneOf(index, [0, 1]).includes(turn % 2)) suite(database);
  });
}
