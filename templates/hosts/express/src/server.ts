import express from "express";
import { expressAdapter } from "keelson/express";
import { gracefully } from "keelson/node";
import { api } from "./api.ts";

await api.ready;
const app = express();
app.get("/", (_request, response) => void response.send("__NAME__"));
app.use(expressAdapter(api));

const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, () => process.stdout.write(`Listening on http://localhost:${port}${api.apiPrefix}\n`));
gracefully(server, api);
