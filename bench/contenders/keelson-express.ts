// Keelson mounted in an Express 5 app.
import express from "express";
import { expressAdapter } from "keelson/express";
import { createBenchApp } from "../keelson-app.ts";

const api = createBenchApp();
await api.ready;
const app = express();
app.use(expressAdapter(api, { shortcut: true }));
app.listen(Number(process.env.PORT), "127.0.0.1");
