import { BadRequestError } from "../../kernel/index.ts";
import type { Condition } from "../condition/condition.ts";

/**
 * How often a path may lead from shared records back to many: `customer.orders` of an order does so once. Each time may
 * multiply the work of the database for one record, even with small tables. SQLite and memory evaluate it once.
 */
const MOST_TURNS = 1;

/** The position on a path of relations. */
interface Way {
  /** Whether several records may refer to the record at this position. */
  readonly isShared: boolean;
  readonly turns: number;
}

const HERE: Way = { isShared: false, turns: 0 };

/**
 * Refuses conditions with paths that repeatedly lead from shared records to many, such as
 * `customer.orders.customer.orders`.
 * @throws BadRequestError
 */
export function checkPaths(condition: Condition, way: Way = HERE): void {
  switch (condition.op) {
    case "and":
    case "or":
      for (const part of condition.of) checkPaths(part, way);
      return;
    case "not":
      checkPaths(condition.of, way);
      return;
    case "related": {
      const { name, type, many } = condition.relation;
      const turns = way.turns + (many && way.isShared ? 1 : 0);
      if (turns > MOST_TURNS)
        throw new BadRequestError(
          `Conditions on related records lead from shared ones back to many only once; "${name}" does so again`,
        );
      const isShared = type === "hasOne" ? way.isShared : type !== "hasMany";
      checkPaths(condition.matches, { isShared, turns });
      return;
    }
    default:
  }
}
