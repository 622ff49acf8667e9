// The API in memory, mounted in Express 5.
import express from "express";
import { expressAdapter } from "keelson/express";
import { createMemoryApp } from "../memory-app.ts";

const app = express();
app.use(expressAdapter(await createMemoryApp(), { shortcut: true }));
app.listen(Number(process.env.PORT), "127.0.0.1");
