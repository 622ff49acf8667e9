import { type ParseQuery, QueryParser, type Where } from "../../../gate/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { answerWith } from "../action/describe-action.ts";

/** `GET /count` counts the records that the caller may read, with the filters of the list (spec 4.2 rule 4). */
export function countAction(): ActionBuilder<PlainShape<{ readonly count: number }>> {
  return new ActionBuilder({
    method: "GET",
    path: "/count",
    description: "Counts records",
    authorizes: "operations",
    sameAs: "count",
    needs: ["query"],
    async describe({ scope, record }, { entity, resolve }) {
      const parameters = await resolve(QueryParser).describe(["filter"], entity, scope, record);
      return { parameters, answers: COUNTED };
    },
    async handler({ scope, entity, rules, search, resolve }) {
      const parse: ParseQuery = resolve(QueryParser).reads(["filter"]);
      scope.state.shown?.noteCount(entity);
      const { total } = await scope.run({
        kind: "count",
        entity,
        rules,
        query: () => parse(search, entity, scope),
        bounded: true,
      });
      return { count: total ?? 0 };
    },
    /** In the process it takes one object of conditions, like `count(where)`. */
    async call({ scope, entity, rules, input }) {
      const where = (input ?? undefined) as Where | undefined;
      scope.state.shown?.noteCount(entity);
      const { total } = await scope.run({ kind: "count", entity, rules, query: { where }, bounded: true });
      return { count: total ?? 0 };
    },
  });
}

/** `GET /:id/exists` returns whether there is a record that the caller may read (spec 4.2). */
export function existsAction(): ActionBuilder<PlainShape<{ readonly exists: boolean }, true>> {
  return new ActionBuilder({
    method: "GET",
    path: "/:id/exists",
    description: "Tells whether there is such a record",
    query: {},
    authorizes: "operations",
    takesAnyId: true,
    describe: () => ({ answers: answerWith(200, "Whether there is one.", { exists: { type: "boolean" } }) }),
    async handler({ scope, entity, params, rules }) {
      if ((params.id as string).length > scope.app.limits.idLength) return { exists: false };
      const query = { select: ["id"] };
      const { applied } = await scope.run({ kind: "read", entity, id: params.id, rules, query, ifFound: true });
      if (applied) scope.state.shown?.note(entity, { id: params.id });
      return { exists: applied };
    },
  });
}

const COUNTED = answerWith(200, "How many there are.", { count: { type: "integer", minimum: 0 } });
