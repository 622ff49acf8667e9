import express, { type Express, type Request } from "express";
import { expressAdapter } from "keelson/express";
import type { NotesApi } from "../notes/api.ts";
import { callerFrom, visitor } from "../notes/caller.ts";

/** An Express app that contains an API: first the API, then the app's own routes. */
export function createApp(api: NotesApi): Express {
  const app = express();
  app.use(expressAdapter(api, { getUser: (request: Request) => callerFrom(request.get("authorization")) }));
  app.get("/", async (_request, response) => {
    // The same rules without HTTP: unpublished notes are not shown.
    const { data } = await api.as(visitor).note.list({ sort: ["-createdAt"], limit: 10 });
    response.type("text/plain").send(data.map(({ title }) => `${title}\n`).join(""));
  });
  return app;
}
