// The API in memory, mounted in Express 4.
import type express5 from "express";
import { expressAdapter } from "keelson/express";
import { createMemoryApp } from "../memory-app.ts";

// The second copy of Express has no types of its own.
const { default: express4 } = (await import("express4" as string)) as { default: typeof express5 };
const app = express4();
app.use(expressAdapter(await createMemoryApp(), { shortcut: true }));
app.listen(Number(process.env.PORT), "127.0.0.1");
