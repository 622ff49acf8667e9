import { type Context, Hono } from "hono";
import { honoAdapter } from "keelson/hono";
import type { NotesApi } from "../notes/api.ts";
import { callerFrom, visitor } from "../notes/caller.ts";

/** A Hono app that contains an API: first the API, then the app's own routes. */
export function createApp(api: NotesApi): Hono {
  const app = new Hono();
  app.use(honoAdapter(api, { getUser: (c: Context) => callerFrom(c.req.header("authorization")) }));
  app.get("/", async (c) => {
    // The same rules without HTTP: unpublished notes are not shown.
    const { data } = await api.as(visitor).note.list({ sort: ["-createdAt"], limit: 10 });
    return c.text(data.map(({ title }) => `${title}\n`).join(""));
  });
  return app;
}
