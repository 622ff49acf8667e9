import { createClient } from "keelson/client";
import { createQueries } from "keelson/react-query";
import type { TasksApi } from "../api.ts";

/** Every query and mutation of the page: types come from the entities, and the bundle contains no server code. */
export const tasks = createQueries(createClient<TasksApi>({ baseUrl: "/api" }));
