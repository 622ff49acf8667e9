import { createRequire } from "node:module";
import { join } from "node:path";
import type { Row } from "../src/index.ts";

/** Answers by ids, as the services of this benchmark do. */
export type Fetch = (entityName: string, ids: readonly string[]) => Promise<readonly Row[]>;

interface Expand {
  readonly serviceConfig: { readonly serviceName: string };
}

type FetchData = (
  expand: Expand,
  key: string,
  ids?: readonly string[],
) => Promise<{ readonly data: readonly unknown[] }>;

interface MedusaJoiner {
  query(query: object): Promise<readonly Row[]>;
}

interface Medusa {
  readonly RemoteJoiner: new (services: readonly object[], fetchData: FetchData) => MedusaJoiner;
}

/**
 * Medusa's joiner on the same records and services, as far as it does the same work: it asks for all ids at once, and
 * checks nothing.
 * @returns undefined when it is not installed: `npm ci --prefix bench/peers --ignore-scripts`
 */
export function medusaStitch(
  relations: readonly string[],
  fetch: Fetch,
): ((records: readonly Row[]) => Promise<readonly Row[]>) | undefined {
  const medusa = loadMedusa();
  if (medusa === undefined) return undefined;
  let current: readonly Row[] = [];
  const services = [
    {
      serviceName: "orders",
      primaryKeys: ["id"],
      alias: [{ name: "order" }],
      relationships: relations.map((name) => ({
        foreignKey: `${name}Id`,
        serviceName: name,
        primaryKey: "id",
        alias: name,
      })),
    },
    ...relations.map((name) => ({ serviceName: name, primaryKeys: ["id"], alias: [{ name }] })),
  ];
  const joiner = new medusa.RemoteJoiner(services, async ({ serviceConfig: { serviceName } }, _key, ids = []) => ({
    // It writes into what it is given.
    data: serviceName === "orders" ? current.map((record) => ({ ...record })) : await fetch(serviceName, ids),
  }));
  const query = {
    service: "orders",
    fields: ["id", "title", ...relations.map((name) => `${name}Id`)],
    expands: relations.map((property) => ({ property, fields: ["id", "name", "amount", "active"] })),
  };
  return (records) => {
    current = records;
    return joiner.query(query);
  };
}

function loadMedusa(): Medusa | undefined {
  try {
    // From the repository's root: compiled, this file is somewhere else.
    return createRequire(join(process.cwd(), "bench/peers/package.json"))("@medusajs/orchestration") as Medusa;
  } catch {
    return undefined;
  }
}
