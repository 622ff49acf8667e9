import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import {
  allOf,
  compileWhere,
  DecryptionError,
  forDecisions,
  matches,
  type Row,
  type Where,
} from "../../kernel/index.ts";
import type { Subject } from "./outcome.ts";

const noRelatedRows = (): readonly Row[] => [];

/**
 * Whether a record satisfies a rule's `where`: its own columns are compared here, related records are asked for. The
 * record need not be stored yet. One whose value cannot be decrypted satisfies no `where` that looks at it, negated or not.
 */
export async function satisfies(subject: Subject, entity: AnyEntity, where: Where, record: Row): Promise<boolean> {
  try {
    return await satisfiesAll(subject, entity, where, forDecisions(record));
  } catch (error) {
    if (error instanceof DecryptionError) return false;
    throw error;
  }
}

async function satisfiesAll(subject: Subject, entity: AnyEntity, where: Where, record: Row): Promise<boolean> {
  for (const [name, value] of Object.entries(where))
    if (!(await satisfiesMember(subject, entity, name, value, record))) return false;
  return true;
}

async function satisfiesMember(
  subject: Subject,
  entity: AnyEntity,
  name: string,
  value: unknown,
  record: Row,
): Promise<boolean> {
  const inner = (part: unknown): Promise<boolean> => satisfiesAll(subject, entity, part as Where, record);
  switch (name) {
    case "AND":
      return (await Promise.all((value as unknown[]).map(inner))).every(Boolean);
    case "OR":
      return (await Promise.all((value as unknown[]).map(inner))).some(Boolean);
    case "NOT":
      return !(await Promise.all((Array.isArray(value) ? value : [value]).map(inner))).some(Boolean);
  }
  const { model } = subject.scope;
  const relation = Object.hasOwn(entity.columns, name) ? undefined : model.relation(entity, name);
  if (relation === undefined) return matches(compileWhere(model, entity, { [name]: value }), record, noRelatedRows);
  return (
    (await hasRelated(subject, relation, value === null ? undefined : (value as Where), record)) !== (value === null)
  );
}

/** Whether there is a related record, one that matches when a `where` is given. */
async function hasRelated(
  subject: Subject,
  relation: ResolvedRelation,
  where: Where | undefined,
  record: Row,
): Promise<boolean> {
  const { driver } = subject.scope;
  if (relation.type === "belongsTo") {
    const id = record[relation.foreignKey as string];
    return (
      typeof id === "string" &&
      (await driver.findOne(relation.target, allOf({ id }, where), { select: ["id"] })) !== null
    );
  }
  // Nothing points to a record that is only being created.
  if (subject.kind === "create") return false;
  const related: Where = where === undefined ? { NOT: { [relation.name]: null } } : { [relation.name]: where };
  return (await driver.findOne(relation.source, allOf({ id: record.id }, related), { select: ["id"] })) !== null;
}
