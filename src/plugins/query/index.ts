// query: reads query strings of lists, counts, exports and bulk actions (docs/reference/http.md).
import { createPlugin, type Plugin, QueryParser } from "../../gate/index.ts";
import { createQueryParser } from "./parse-query.ts";

// No hooks, no routes and no options.

// Service: QueryParser, for all routes that read records by a query string.

/** Reads query strings in the dialect of json-server: filters, sorting, pages, includes and selections. */
export function query(): Plugin {
  return createPlugin({
    id: "query",
    version: "1.0.0",
    setup({ entities, provide }) {
      const parser = createQueryParser(entities);
      provide(QueryParser, () => parser);
    },
  });
}
