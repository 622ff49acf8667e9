import type { ClientList } from "keelson";
import { everyPage } from "./every-page.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** What a directory needs of an entity client: genres, directors and distributors all have it. */
interface NamedClient {
  list(options: { readonly after?: string; readonly limit: number }): Promise<ClientList<Named>>;
  create(data: { readonly name: string }): Promise<Named>;
}

/** Finds records by name and makes those that are missing; a name that is asked for twice at once is made once. */
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
