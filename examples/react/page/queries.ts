import { createClient } from "keelson/client";
import { createQueries } from "keelson/react-query";
import type { TasksApi } from "../api.ts";

/** Every query and mutation of the page: types come from the entities, and nothing of the server is in the bundle. */
export const tasks = createQueries(createClient<TasksApi>({ baseUrl: "/api" }));
