import type { Row } from "../../../gate/index.ts";
import type { PasswordHasher } from "./create-password-hasher.ts";
import type { PasswordColumn } from "./password-columns.ts";

/**
 * A copy of what is to be stored with its passwords hashed, whatever they look like: a text in the form of a hash is
 * hashed like any other.
 * @param signal ends the wait for a turn
 * @throws BadRequestError for what cannot be a password
 * @throws UnavailableError when too many wait, or the signal is aborted before its turn
 */
export async function hashColumns(
  hasher: PasswordHasher,
  columns: readonly PasswordColumn[],
  data: Row,
  signal?: AbortSignal,
): Promise<Row> {
  const given = columns.filter(({ name }) => data[name] !== undefined && data[name] !== null);
  if (given.length === 0) return data;
  const hashes = await Promise.all(
    given.map(async ({ name, cost }) => [name, await hasher.hash(data[name] as string, { cost, signal })] as const),
  );
  return { ...data, ...Object.fromEntries(hashes) };
}
