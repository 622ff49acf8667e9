/** Makes a call through an in-process client: `api.as(user)`, or a handler's `client(entity)`. */
import type { Input } from "./model.ts";

/** A call in the client's form. */
export interface HandlerCall {
  readonly do: string;
  readonly id?: string;
  readonly data?: Input;
  readonly on?: readonly string[];
  readonly options?: Record<string, unknown>;
  readonly where?: Record<string, unknown>;
}

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** @throws the library's errors */
export async function runCall(client: Record<string, Method>, call: HandlerCall): Promise<unknown> {
  const { do: kind, id, data, options, where } = call;
  const method = (name: string): Method => {
    const found = client[name];
    if (found === undefined) throw new TypeError(`the client has no ${name}`);
    return found;
  };
  switch (kind) {
    case "list": {
      const { data: rows, total } = (await method("list")(options)) as { data: unknown; total: number };
      return { data: rows, total };
    }
    case "aggregate":
      return method("aggregate")(options);
    case "get":
      return method("get")(id, options);
    case "create":
      return method("create")(data);
    case "update":
      return method("update")(id, data);
    case "upsert":
      return method("upsert")(data, { on: call.on });
    case "delete":
      return method("delete")(id);
    case "count":
      return where === undefined ? method("count")() : method("count")(where);
    default:
      return id === undefined ? method(kind)(data) : method(kind)(id);
  }
}
