// The API in memory, in Express 5 behind another middleware, where the adapter cannot take requests before Express does.
import express from "express";
import { expressAdapter } from "keelson/express";
import { createMemoryApp } from "../memory-app.ts";

const app = express();
app.use((_request, _response, next) => next());
app.use(expressAdapter(await createMemoryApp()));
app.listen(Number(process.env.PORT), "127.0.0.1");
