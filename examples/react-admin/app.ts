import express, { type Express } from "express";
import { expressAdapter } from "keelson/express";
import type { FilmsApi } from "../films/api.ts";

/** Only its own files and this API; styles are an exception, because Material UI writes them into the page. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/**
 * The API and the page on one port, so that the page needs no CORS.
 * @param page folder with the bundled page
 */
export function createApp(api: FilmsApi, page: string): Express {
  const app = express();
  app.use(expressAdapter(api));
  app.use((_request, response, next) => {
    response.set("Content-Security-Policy", POLICY);
    next();
  });
  app.use("/admin", express.static(page));
  app.get("/", (_request, response) => response.redirect("/admin/"));
  return app;
}
