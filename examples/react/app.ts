import express, { type Express, type RequestHandler } from "express";
import { expressAdapter } from "keelson/express";
import type { TasksApi } from "./api.ts";

/**
 * The API and the page on one port, so that the page needs no CORS.
 * @param page middleware that serves the page: built files, or Vite
 */
export function createApp(api: TasksApi, page: RequestHandler): Express {
  const app = express();
  app.use(expressAdapter(api));
  app.use(page);
  return app;
}
