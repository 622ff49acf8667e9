// Feathers 5 on Koa with Knex, TypeBox and Ajv, set up as its CLI does.
import { feathers } from "@feathersjs/feathers";
import { KnexService } from "@feathersjs/knex";
import { bodyParser, errorHandler, koa, parseAuthentication, rest } from "@feathersjs/koa";
import knex from "knex";
import koaQs from "koa-qs";
import { benchDatabaseUrl, poolSize } from "../../database.ts";
import { authentication } from "./authentication.ts";
import type { Application } from "./declarations.ts";
import { posts } from "./posts.ts";

const app: Application = koa(feathers());
// By default a query string may hold lists of twenty values.
koaQs(app as unknown as Parameters<typeof koaQs>[0], "extended", { arrayLimit: 200 });
app.use(errorHandler());
app.use(parseAuthentication());
app.use(bodyParser());
app.configure(rest());
app.set("postgresqlClient", knex({ client: "pg", connection: benchDatabaseUrl(), pool: { min: 0, max: poolSize } }));
app.configure(authentication);
app.use("users", new KnexService({ Model: app.get("postgresqlClient"), name: "user" }), { methods: ["get"] });
app.configure(posts);
await app.listen(Number(process.env.PORT), "127.0.0.1");
