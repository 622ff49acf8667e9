import type { AnyEntity } from "../../entity/index.ts";
import type { Operation } from "../access/access-matrix.ts";
import { ALWAYS, isCovered } from "../access/grant.ts";
import type { LintRule, LintSubject, Place } from "./finding.ts";

/** Entities with protected fields that anybody may read or change. */
export const openProtectedEntity: LintRule = {
  id: "open-protected-entity",
  title: "Protected fields on an entity that is open to everybody",
  why: "Encryption protects the database's files, not the answers: who may read the record reads its encrypted fields too.",
  fix: 'Give the field rules of its own, .readable("owner"), or the entity a stricter rule than everyone.',
  level: "warning",
  find: (subject) =>
    subject.model.entities.flatMap((entity) => [...readOpenly(subject, entity), ...changedOpenly(subject, entity)]),
};

function isOpen({ matrix }: LintSubject, { name }: AnyEntity, operation: Operation): boolean {
  const grants = matrix.entities[name]?.operations[operation];
  return grants !== undefined && isCovered(ALWAYS, grants.anonymous);
}

function readOpenly({ matrix }: LintSubject, entity: AnyEntity): Place[] {
  return Object.entries(entity.fields).flatMap(([name, { encrypted }]) => {
    const read = matrix.entities[entity.name]?.fields[name]?.read.anonymous;
    if (encrypted === undefined || read === undefined || !isCovered(ALWAYS, read)) return [];
    return [{ at: `${entity.name}.${name}`, what: "everybody may read this encrypted field" }];
  });
}

function changedOpenly(subject: LintSubject, entity: AnyEntity): Place[] {
  const fields = Object.entries(entity.fields).filter(
    ([, { password, omit, encrypted, readable, writable }]) => password || omit || encrypted || readable || writable,
  );
  if (fields.length === 0) return [];
  return (["update", "delete"] as const)
    .filter((operation) => isOpen(subject, entity, operation))
    .map((operation) => ({
      at: `${entity.name}.rules.${operation}`,
      what: `everybody may ${operation} it, and it has protected fields (${fields.map(([name]) => name).join(", ")})`,
    }));
}
