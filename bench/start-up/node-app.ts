// The limit: a server that loads nothing.
import { createServer } from "node:http";

createServer((_request, response) => response.end("[]")).listen(Number(process.env.PORT), "127.0.0.1");
