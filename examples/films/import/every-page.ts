import type { ClientList } from "keelson";

interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** All records of a list, page by page. */
export async function* everyPage<T>(list: (page: Page) => Promise<ClientList<T>>): AsyncGenerator<T> {
  let after: string | null | undefined;
  do {
    const { data, nextCursor } = await list({ limit: 1000, ...(after ? { after } : {}) });
    yield* data;
    after = nextCursor;
  } while (after);
}
