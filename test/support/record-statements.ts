import type { Driver } from "../../src/kernel/index.ts";

const STATEMENTS = new Set<PropertyKey>([
  "findOne",
  "findMany",
  "count",
  "create",
  "createMany",
  "update",
  "updateMany",
  "delete",
  "deleteMany",
]);

/** A driver that also writes down what it is asked: `findMany post`. Transactions are transparent. */
export function recordStatements(driver: Driver): Driver & { readonly statements: string[] } {
  const statements: string[] = [];
  const record = (inner: Driver): Driver =>
    new Proxy({} as Driver, {
      get(_, name) {
        const value: unknown = Reflect.get(inner, name);
        if (name === "statements") return statements;
        if (typeof value !== "function") return value;
        if (name === "transaction")
          return (work: (driver: Driver) => Promise<unknown>, options: object) =>
            inner.transaction((transaction) => work(record(transaction)), options);
        return (...args: unknown[]) => {
          if (STATEMENTS.has(name)) statements.push(`${String(name)} ${nameOf(args[0])}`);
          return Reflect.apply(value, inner, args) as unknown;
        };
      },
    });
  return record(driver) as Driver & { readonly statements: string[] };
}

function nameOf(entity: unknown): string {
  return typeof entity === "string" ? entity : (entity as { name: string }).name;
}
