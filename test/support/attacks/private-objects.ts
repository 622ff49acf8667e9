import type { Row } from "../../../src/index.ts";
import { CALLERS, type CallerName, USERS } from "../protected/truth.ts";
import type { Probe, SentInit } from "./probe.ts";
import { usuallyOne } from "./turn-of.ts";

/** Entities whose records only the owner may access, with their paths. */
export const PRIVATE = { letter: "/api/letters", drawer: "/api/drawers" } as const;
export type PrivateEntity = keyof typeof PRIVATE;
export const PRIVATE_ENTITIES = Object.keys(PRIVATE) as PrivateEntity[];
export const ATTACKERS = Object.keys(CALLERS) as CallerName[];

/** A way to access one record. */
export interface Door extends SentInit {
  readonly method: string;
  readonly path: string;
}

/** The values of a new record. */
export const NEW_OBJECT = { subject: "new", body: "new", seal: "new" };

/** Every route with the record's id in its path. */
export function doorsOf(path: string, id: string): Door[] {
  const at = `${path}/${id}`;
  const input = { text: "taken over" };
  return [
    { method: "GET", path: at },
    { method: "HEAD", path: at },
    { method: "GET", path: `${at}?include=author` },
    { method: "GET", path: `${at}?select=subject` },
    { method: "PUT", path: at, body: { subject: "taken over" } },
    { method: "PATCH", path: at, body: { subject: "taken over" } },
    { method: "PATCH", path: `${at}?include=author`, body: {} },
    { method: "DELETE", path: `${at}/soft` },
    { method: "POST", path: `${at}/restore` },
    { method: "POST", path: `${at}/archive` },
    { method: "POST", path: `${at}/unarchive` },
    { method: "POST", path: `${at}/toggle-pinned` },
    { method: "POST", path: `${at}/clone` },
    { method: "GET", path: `${at}/report` },
    { method: "POST", path: `${at}/rewrite`, body: input },
    { method: "POST", path: `${at}/renew`, body: { ...input, pin: "a long pin" } },
    { method: "DELETE", path: at },
  ];
}

/** Queries that can request one record, each at one of the collection routes in turn, or at all of them. */
export function searchesFor(path: string, id: string, turn: number): string[] {
  const conditions = [`id=${id}`, `id_in=${id},x`, `id_gte=${id}&id_lte=${id}`, `id_ne=x`, "q=cnry", "_deleted=only"];
  const queries = ["", ...conditions, `id=${id}&include=author`, "_sort=subject&_limit=20"];
  return queries.flatMap((query, index) =>
    usuallyOne(turn + index, ["", "/count", "/export"]).map((door) => `${path}${door}?${query}`),
  );
}

/** The rows of an entity that belong to other callers. */
export async function foreignRows(probe: Probe, entity: PrivateEntity, caller: CallerName): Promise<string> {
  const rows: Row[] = await probe.stored(entity);
  return JSON.stringify(rows.filter(({ authorId }) => authorId !== CALLERS[caller]?.id));
}

/** Users other than the caller. */
export function othersThan(caller: CallerName): readonly string[] {
  return USERS.filter((id) => id !== caller);
}
