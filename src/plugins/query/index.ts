// query: the dialect of query strings that lists, counts, exports and bulk actions take (docs/reference/http.md).
import { createPlugin, type Plugin, QueryParser } from "../../gate/index.ts";
import { createQueryParser } from "./parse-query.ts";

// No hooks, no routes and no options.

// Service: QueryParser, for all surfaces that read records from a query string.

/** Reads query strings in the dialect of json-server: filters, order, pages, includes and selections. */
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
