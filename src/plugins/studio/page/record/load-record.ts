import type { AppDocument, EntityDescription } from "../../app-document.ts";
import { shapeOf } from "../list/list-query.ts";
import { call } from "../state/api.ts";
import { pathOf, type Row } from "../state/app-context.ts";

/** A record with its version. */
export interface LoadedRecord {
  readonly record: Row;
  /** For `If-Match`; undefined for records without versions. */
  readonly etag: string | undefined;
  /** Relations to other services that did not answer, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
}

/** Reads a record with the titles of related records, and with the data of other services. */
export async function loadRecord(
  app: AppDocument,
  entity: EntityDescription,
  id: string,
  { isDeleted = false, signal }: { readonly isDeleted?: boolean; readonly signal?: AbortSignal } = {},
): Promise<LoadedRecord> {
  const names = entity.fields.map(({ name }) => name);
  const own = shapeOf(app, entity, names).include;
  const remote = entity.relations.filter((relation) => relation.remote).map(({ name }) => [name, true] as const);
  const include = { ...(own === undefined ? {} : (JSON.parse(own) as object)), ...Object.fromEntries(remote) };
  const query = new URLSearchParams();
  if (Object.keys(include).length > 0) query.set("include", JSON.stringify(include));
  if (isDeleted) query.set("_deleted", "with");
  const { data, headers } = await call<Row>(`${pathOf(app, entity, "/:id", id)}?${query}`, signal ? { signal } : {});
  return {
    record: data,
    etag: entity.versioned ? (headers.get("etag") ?? undefined) : undefined,
    missing: missingOf(headers.get("x-remote-errors") ?? ""),
  };
}

/** Parses `subscription;timeout, invoice;unavailable` into reasons by relation. */
function missingOf(header: string): Readonly<Record<string, string>> {
  const parts = header.split(",").map((part) => part.trim().split(";"));
  return Object.fromEntries(parts.filter(([name]) => name !== "").map(([name, reason = ""]) => [name, reason]));
}
