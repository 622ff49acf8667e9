// versions: optimistic concurrency of entities that are `.versioned()`. Answers with one record carry an ETag, and
// `If-Match` and `If-None-Match` are kept (http.md, "Headers and concurrency"; RFC 9110, sections 8.8.3 and 13).
import { createPlugin, type Plugin, type PluginContext, type RouteNotes } from "../../kernel/index.ts";
import { createRequestConditions } from "./create-request-conditions.ts";
import { noteOf } from "./note-of.ts";

// No hooks, no options. Drivers count the versions.

/** Service: a {@link RequestConditions}, for surfaces that answer with one record, or change it. */
const REQUESTS_SERVICE = "versions.requests";

/** Versions of records as ETags, and what requests ask of them. */
export function versions(): Plugin {
  return createPlugin({ id: "versions", version: "1.0.0", provides: ["versioned"], setup, start });
}

function setup({ services }: PluginContext): void {
  const conditions = createRequestConditions();
  services.register(REQUESTS_SERVICE, () => conditions);
}

/** Another plugin keeps the notes, and need not be there. */
function start({ services }: PluginContext): void {
  if (services.has("openapi.routes")) services.resolve<RouteNotes>("openapi.routes").add(noteOf);
}
