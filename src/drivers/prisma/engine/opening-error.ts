import { ConfigurationError } from "../../../entity/index.ts";
import { PrismaFailure, toKeelsonError } from "../../sql/index.ts";

/** What is wrong with a connection that can only be put right by hand; Prisma's codes and PostgreSQL's. */
const REFUSALS: Readonly<Record<string, string>> = {
  P1000: "the database server refuses the user or the password",
  P1003: "the database server has no such database; create it first",
  P1010: "the database server denies this user access to the database",
  "28000": "the database server refuses the user or the password",
  "28P01": "the database server refuses the user or the password",
  "3D000": "the database server has no such database; create it first",
  P1011: "the connection to the database server cannot be encrypted as asked",
};

/**
 * What kept a database from being opened.
 * @param feature What wanted to open it, for the message
 */
export function openingError(feature: string, error: unknown): Error {
  const failure = new PrismaFailure(error, { operation: "connect" });
  const refusal = REFUSALS[failure.code];
  if (refusal !== undefined)
    return new ConfigurationError(`${feature}: ${refusal} (${failure.code})`, { cause: failure });
  if (failure.remedy !== undefined) return new ConfigurationError(`${feature}: ${failure.remedy}`, { cause: failure });
  return toKeelsonError(error, { operation: "connect" });
}
