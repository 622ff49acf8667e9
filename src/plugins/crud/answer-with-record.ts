import type { AnyEntity } from "../../entity/index.ts";
import type { Operation, OperationScope, ParseQuery, RequestConditions, RouteContext } from "../../gate/index.ts";
import type { Reply } from "../../kernel/index.ts";

/** Who keeps what requests ask of their record; nobody, in an app without that plugin. */
export type FindConditions = () => RequestConditions | undefined;

/** Answers with one record, and reads the queries of such answers. */
export interface RecordAnswers {
  /** As the parser, with what the answer's tag is made of. */
  readonly parse: ParseQuery;
  answer(context: RouteContext, reply: Reply, operation: Operation): Reply | Promise<Reply>;
}

/** Selections that nobody asked to have the version in: it is read for the tag, and not shown. */
const extended = new WeakSet<readonly string[]>();

/** The answers of an entity's routes; those of versions carry a tag. */
export function answersWithRecord(entity: AnyEntity, parse: ParseQuery, conditions: FindConditions): RecordAnswers {
  if (entity.versioned === undefined) return { parse, answer: (_, reply) => reply };
  const isShown = (scope: OperationScope): boolean => scope.mask(entity).readable.has("version");
  return {
    async parse(search, of, scope) {
      const query = await parse(search, of, scope);
      if (query.select === undefined || query.select.includes("version") || !isShown(scope)) return query;
      const select = [...query.select, "version"];
      extended.add(select);
      return { ...query, select };
    },
    answer(context, reply, { records, query }) {
      const record = records[0];
      const version = isShown(context.scope) ? record?.version : undefined;
      if (query.select !== undefined && extended.has(query.select)) delete record?.version;
      return conditions()?.answer(context, reply, version) ?? reply;
    },
  };
}
