import type { SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { adapterLike } from "../sql/index.ts";
import { poolOf } from "./embedded/lost-connections.ts";
import type { AnyAdapterFactory } from "./prisma.ts";

type Connect = () => Promise<SqlDriverAdapter>;

/**
 * Wraps a factory so that its users share one adapter and its connection pool, until the last of them releases it. For
 * a client and the driver that uses it.
 * @example const adapter = sharedAdapter(new PrismaPg({ connectionString })); const driver = prisma(new PrismaClient({
 *   adapter }), { adapter });
 */
export function sharedAdapter<F extends AnyAdapterFactory>(factory: F): F {
  const own = factory as unknown as SqlDriverAdapterFactory;
  const connect = sharing(() => own.connect());
  return new Proxy(factory, {
    get(target, name) {
      if (name === "connect") return connect;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function sharing(connect: Connect): Connect {
  let opening: Promise<SqlDriverAdapter> | undefined;
  let users = 0;

  async function leave(): Promise<void> {
    if (--users > 0) return;
    const closing = opening;
    opening = undefined;
    await closing?.then((adapter) => adapter.dispose());
  }

  return async () => {
    users++;
    const current = opening ?? connect();
    opening = current;
    try {
      return lent(await current, leave);
    } catch (error) {
      users--;
      if (opening === current) opening = undefined;
      throw error;
    }
  };
}

/** The shared adapter for one of its users. */
function lent(adapter: SqlDriverAdapter, leave: () => Promise<void>): SqlDriverAdapter {
  let left: Promise<void> | undefined;
  const own = adapterLike(adapter, {
    dispose() {
      left ??= leave();
      return left;
    },
  });
  return Object.assign(own, { underlyingDriver: () => poolOf(adapter) });
}
