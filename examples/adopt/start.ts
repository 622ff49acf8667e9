import { embedded } from "keelson";
import { serve } from "keelson/node";
import { createShop } from "./api.ts";
import { createDatabase } from "./create-database.ts";

// `npm run example:adopt`, then the lines it prints. The database exists before the app; the app reads and writes its
// rows, and never changes its tables. This command wrote the entities:
// `keelson import file:.keelson/chinook.db --out=examples/adopt/entities`
const file = process.env.CHINOOK_FILE ?? ".keelson/chinook.db";
await createDatabase(file);
const api = createShop({
  driver: embedded({ file }),
  // A demo trusts every header; see the guides for real authentication.
  getUser: ({ headers }) => {
    const [, role, id] = headers.get("authorization")?.match(/^Bearer (customer|staff)-(\d+)$/) ?? [];
    return id === undefined ? null : { id, role };
  },
});
await api.ready;
const { url } = await serve(api, { port: Number(process.env.PORT ?? 3002) });
console.log(`The longest tracks, with their album and its artist:
  curl '${url}/api/tracks?_sort=-milliseconds&_limit=3&include=album.artist'
What customer 4 has bought, and what she may not see of others:
  curl '${url}/api/invoices?include=invoiceLines.track' -H 'Authorization: Bearer customer-4'
  curl ${url}/api/invoices/1 -H 'Authorization: Bearer customer-4'
The staff sets a price:
  curl -X PATCH ${url}/api/tracks/1 -H 'Authorization: Bearer staff-1' -H 'Content-Type: application/json' -d '{"unitPrice":"1.29"}'`);
