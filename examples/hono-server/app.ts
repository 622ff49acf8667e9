import { type Context, Hono } from "hono";
import { honoAdapter } from "keelson/hono";
import type { NotesApi } from "../notes/api.ts";
import { callerFrom, visitor } from "../notes/caller.ts";

/** A Hono app with an API in it: first the API, then whatever is the app's own. */
export function createApp(api: NotesApi): Hono {
  const app = new Hono();
  app.use(honoAdapter(api, { getUser: (c: Context) => callerFrom(c.req.header("authorization")) }));
  app.get("/", async (c) => {
    // No HTTP, and yet the same rules: what is not published does not show.
    const { data } = await api.as(visitor).note.list({ sort: ["-createdAt"], limit: 10 });
    return c.text(data.map(({ title }) => `${title}\n`).join(""));
  });
  return app;
}
