import type { ClientList } from "keelson";
import { everyPage } from "./every-page.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The part of an entity client that a directory uses; genres, directors and distributors have it. */
interface NamedClient {
  list(options: { readonly after?: string; readonly limit: number }): Promise<ClientList<Named>>;
  create(data: { readonly name: string }): Promise<Named>;
}

/** Finds records by name and creates missing ones; concurrent requests for a name create one record. */
export async function openDirectory(client: NamedClient): Promise<(name: string | null) => Promise<string | null>> {
  const ids = new Map<string, Promise<string>>();
  for await (const { id, name } of everyPage((page) => client.list(page))) ids.set(name, Promise.resolve(id));
  return async (name) => {
    if (name === null) return null;
    const known = ids.get(name) ?? client.create({ name }).then(({ id }) => id);
    ids.set(name, known);
    return known;
  };
}
