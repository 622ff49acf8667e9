// Remult 3 on Express 5 with its own PostgreSQL provider.
import express, { type NextFunction, type Request, type Response } from "express";
import { remult, repo } from "remult";
import { createPostgresDataProvider } from "remult/postgres";
import { remultApi } from "remult/remult-express";
import { parseList } from "../../input.ts";
import { callers } from "../../seed.ts";
import { twoAtATime } from "../two-at-a-time.ts";
import { Post, User } from "./entities.ts";

const api = remultApi({
  entities: [User, Post],
  ensureSchema: false,
  logApiEndPoints: false,
  dataProvider: createPostgresDataProvider({ configuration: twoAtATime }),
  async getUser({ headers }) {
    const header = headers.authorization;
    const caller = header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined;
    return caller && { id: caller.id, roles: [caller.role] };
  },
});

const app = express();

// The generated routes join nothing, so this one is written by hand.
app.get("/api/posts-with-authors", api.withRemult, async (request, response) => {
  const input = parseList(request.query);
  if (!input) return void response.status(400).json({ message: "Invalid query" });
  const { published, authorId, views } = input.where;
  const posts = await repo(Post).find({
    where: {
      ...(published !== undefined && { published }),
      ...(authorId !== undefined && { authorId }),
      ...(views && { views: { $lte: views.lte } }),
    },
    ...(input.sort && { orderBy: { [input.sort.field]: input.sort.direction } }),
    limit: input.take,
    page: input.skip / input.take + 1,
    include: { author: true },
  });
  response.json(remult.repo(Post).toJson(posts));
});

app.use(api);

// Without it, Express answers a body that is not JSON with a page of HTML. It needs its four parameters to be known as a handler of errors.
app.use((error: { status?: number }, _request: Request, response: Response, _next: NextFunction) => {
  const status = error.status ?? 500;
  response.status(status).json({ message: status < 500 ? "Bad request" : "Internal error" });
});

app.listen(Number(process.env.PORT), "127.0.0.1");
