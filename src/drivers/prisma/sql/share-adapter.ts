import type { SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import type { AnyAdapterFactory } from "../adapter-shape.ts";

type Connect = () => Promise<SqlDriverAdapter>;

const shared = new WeakSet<object>();

/**
 * Has all who connect through a factory share one adapter, and with it one pool of connections, until the last of them
 * lets go of it. A client that has connected before keeps the pool it has.
 * @param factory What the client was made with too; its `connect` is replaced, once
 */
export function shareAdapter(factory: AnyAdapterFactory): SqlDriverAdapterFactory {
  const own = factory as SqlDriverAdapterFactory;
  if (shared.has(own)) return own;
  shared.add(own);
  own.connect = sharing(own.connect.bind(own));
  return own;
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

/** An adapter that others use too, for one who closes it. */
function lent(adapter: SqlDriverAdapter, leave: () => Promise<void>): SqlDriverAdapter {
  let left: Promise<void> | undefined;
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    executeScript: (script) => adapter.executeScript(script),
    startTransaction: (isolation) => adapter.startTransaction(isolation),
    getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: false },
    dispose() {
      left ??= leave();
      return left;
    },
  };
}
