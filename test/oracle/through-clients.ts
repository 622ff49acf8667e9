/** Calls through in-process clients. */
import { type OracleApp, userOf } from "./build-app.ts";
import type { Call, EntityModel, ListQuery, Principal } from "./model.ts";
import type { Observed } from "./perform.ts";
import { isWrite } from "./requests.ts";
import { type HandlerCall, runCall } from "./run-call.ts";

/** Filters as the `where` of an in-process client. */
function whereOfFilters(entity: EntityModel, query: ListQuery): Record<string, unknown> | undefined {
  const parts: Record<string, unknown>[] = (query.filters ?? []).map(([name, text]) => {
    const at = name.lastIndexOf("_");
    const [column, op] = at > 0 ? [name.slice(0, at), name.slice(at + 1)] : [name, "eq"];
    const kind = entity.fields.find((one) => one.name === column)?.kind ?? "string";
    const value = (one: string): unknown =>
      op === "null" || kind === "bool" ? one === "true" : kind === "int" ? Number(one) : one;
    const given = op === "in" || op === "nin" ? text.split(",").map(value) : value(text);
    return { [column]: { [op]: given } };
  });
  if (query.where !== undefined) parts.push(query.where);
  return parts.length === 0 ? undefined : { AND: parts };
}

/** The call in the form of an in-process client; undefined if the client has no equivalent. */
export function clientCall(entity: EntityModel, call: Call): HandlerCall | undefined {
  if ("query" in call) {
    const { query } = call;
    if (call.do !== "list" && (query.q !== undefined || query.highlight)) return undefined;
    if (query.filters?.some(([name]) => name.includes("."))) return undefined;
    // In-process clients take datetimes as Date objects, which a JSON text is not.
    if (/\d{4}-\d\d-\d\dT/.test(JSON.stringify([query.filters, query.where, query.include]))) return undefined;
    const where = whereOfFilters(entity, query);
    const options = {
      ...(where && { where }),
      ...(query.q !== undefined && { q: query.q }),
      ...(query.highlight && { highlight: true }),
      ...(query.sort && { sort: query.sort }),
      ...(query.page && { page: query.page }),
      ...(query.limit && { limit: query.limit }),
      ...(query.include && { include: query.include }),
      ...(query.select && { select: query.select }),
      ...(query.deleted && { deleted: query.deleted }),
    };
    if (call.do === "list") return { do: "list", options };
    if (call.do === "count" && query.deleted === undefined) return { do: "count", ...(where && { where }) };
    if (call.do === "aggregate") {
      const { start, ...of } = call.of;
      const { deleted } = query;
      return {
        do: "aggregate",
        options: { ...(where && { where }), ...(deleted && { deleted }), ...of, offset: start },
      };
    }
    if (call.do !== "get") return undefined;
    const { where: _, sort: __, page: ___, limit: ____, ...rest } = options;
    return { do: "get", id: call.id, options: rest };
  }
  if (isWrite(call) || call.do === "upsert") return call.include ? undefined : call;
  if (call.do === "bulkUpdate" || call.do === "bulkDelete" || call.do === "import" || call.do === "batch")
    return undefined;
  return call.do === "delete" ? call : undefined;
}

/** A client's result, in the form of an HTTP response. */
export function fromClient(call: Call, value: unknown): Observed {
  const plain = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
  if (call.do === "list") {
    const { data, total } = plain as { data: unknown; total: number };
    return { status: 200, body: data, total };
  }
  if (call.do === "count") return { status: 200, body: { count: plain } };
  // A client does not report which of the two it did.
  if (call.do === "upsert") return { status: 200, body: plain };
  if (call.do === "delete") return { status: 200, body: { success: true, id: call.id } };
  return { status: call.do === "create" ? 201 : 200, body: plain };
}

export const failed = (error: unknown): Observed => ({
  status: (error as { status?: number }).status ?? 500,
  body: String((error as Error).message ?? error),
});

export async function overClient(app: OracleApp, entity: EntityModel, by: Principal, call: Call): Promise<Observed> {
  const wanted = clientCall(entity, call) as HandlerCall;
  try {
    const clients = app.api.as(userOf(by) as never) as unknown as Record<string, Parameters<typeof runCall>[0]>;
    return fromClient(call, await runCall(clients[entity.name] as Parameters<typeof runCall>[0], wanted));
  } catch (error) {
    return failed(error);
  }
}

/** In-process calls in one transaction; one failure rolls back all of them. */
export async function overTransaction(
  app: OracleApp,
  by: Principal,
  { items }: Extract<Call, { do: "batch" }>,
): Promise<Observed> {
  try {
    const body = await app.api.transaction(async (tx) => {
      const clients = tx.as(userOf(by) as never) as unknown as Record<string, Parameters<typeof runCall>[0]>;
      const done: { status: number; body: unknown }[] = [];
      for (const { on, call } of items) {
        const { status, body } = fromClient(call, await runCall(clients[on] as Parameters<typeof runCall>[0], call));
        done.push({ status, body });
      }
      return done;
    });
    return { status: 200, body };
  } catch (error) {
    return failed(error);
  }
}
