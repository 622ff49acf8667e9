import { authenticate } from "@feathersjs/authentication";
import { KnexService } from "@feathersjs/knex";
import { hooks } from "@feathersjs/schema";
import type { Application } from "./declarations.ts";
import * as schema from "./posts.schema.ts";

/** The service of posts, as `feathers generate service` writes it. */
export function posts(app: Application): void {
  const options = { Model: app.get("postgresqlClient"), name: "post", multi: ["patch"] };
  // A service that has pages counts on every one of them; one without never does.
  app.use("posts", new KnexService({ ...options, paginate: { default: 20, max: 100 } }), {
    methods: ["find", "get", "create", "patch"],
  });
  app.use("uncounted-posts", new KnexService(options), { methods: ["find"] });

  for (const path of ["posts", "uncounted-posts"])
    app.service(path).hooks({
      around: {
        all: [hooks.resolveExternal(schema.postExternalResolver), hooks.resolveResult(schema.postResolver)],
        create: [authenticate("token")],
        patch: [authenticate("token")],
      },
      before: {
        all: [hooks.validateQuery(schema.postQueryValidator), hooks.resolveQuery(schema.postQueryResolver)],
        create: [hooks.validateData(schema.postDataValidator), hooks.resolveData(schema.postDataResolver)],
        patch: [hooks.validateData(schema.postPatchValidator), hooks.resolveData(schema.postPatchResolver)],
      },
    });
}
