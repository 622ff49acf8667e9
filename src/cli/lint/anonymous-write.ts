import { ALWAYS, isCovered } from "../access/grant.ts";
import type { LintRule } from "./finding.ts";

/** Records that anybody may change or delete without being known. */
export const anonymousWrite: LintRule = {
  id: "anonymous-write",
  title: "Anybody may change or delete records",
  why: "Without a login there is nobody to hold to account, and a single request can empty a list.",
  fix: 'Use "authenticated", "owner" or a rule of your own for update and delete.',
  level: "warning",
  find: ({ matrix }) =>
    Object.entries(matrix.entities).flatMap(([name, { operations }]) =>
      (["update", "delete"] as const)
        .filter((operation) => isCovered(ALWAYS, operations[operation].anonymous))
        .map((operation) => ({ at: `${name}.rules.${operation}`, what: `everybody may ${operation} every record` })),
    ),
};
