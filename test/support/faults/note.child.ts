// Serves notes from a SQLite file (its argument), for disk-full.test.ts to fill the disk.

import { serve } from "../../../src/adapters/node/index.ts";
import { embedded } from "../../../src/drivers/prisma/index.ts";
import { noteApp } from "./note-app.ts";

const [file = ""] = process.argv.slice(2);
const api = noteApp(embedded({ file }));
await api.ready;
const { port } = await serve(api, { port: 0, hostname: "127.0.0.1" });
process.send?.({ port });
