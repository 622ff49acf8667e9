import { type Driver, entityOf, type Statement, soleId, withMiddleware } from "../../src/gate/index.ts";

/** A driver that records the statements it runs, also in transactions: `find post`, or `bulk update post`. */
export function recordStatements(driver: Driver): Driver & { readonly statements: string[] } {
  const statements: string[] = [];
  const recording = withMiddleware(
    driver,
    (statement, next) => {
      statements.push(`${whatIsDone(statement)} ${entityOf(statement).name}`);
      return next(statement);
    },
    { joins: true },
  );
  return Object.assign(recording, { statements });
}

function whatIsDone(statement: Statement): string {
  if (statement.kind === "find" && statement.lock === true) return "lock";
  const isWrite = statement.kind === "update" || statement.kind === "delete";
  return isWrite && soleId(statement.where) === undefined ? `bulk ${statement.kind}` : statement.kind;
}
