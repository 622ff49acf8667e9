import { BadRequestError } from "../../kernel/index.ts";
import type { Condition } from "../condition/condition.ts";

/**
 * How often a path may lead from records that several others share to many of them: `customer.orders` of an order is once.
 * Each time may multiply what the database looks at for one record, whatever the size of the tables. SQLite and memory work it out once.
 */
const MOST_TURNS = 1;

/** A condition on related records, on the way there. */
interface Way {
  /** Whether several records may lead to the one that the path has reached. */
  readonly isShared: boolean;
  readonly turns: number;
}

const HERE: Way = { isShared: false, turns: 0 };

/**
 * Refuses conditions whose paths go back and forth, such as `customer.orders.customer.orders`.
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
