/**
 * The contents of an OpenAPI document for its reader (guides/openapi.md): the routes that the rules allow them for some or
 * all records, without routes that are always refused, and the fields that they may read and filter by.
 */
import type { Access, ActionName, Call, EntityModel, FieldModel, Principal, RuleModel } from "../model.ts";
import type { Outcome, Setting } from "./outcome.ts";
import { inheritedBy, mayReport } from "./reports.ts";
import { type Asked, reachOf } from "./rules.ts";
import { filterable, readableReach } from "./shown.ts";

export function document({ model, by }: Setting, { of }: Extract<Call, { do: "document" }>): Outcome[] {
  const reader = of === "public" ? null : by;
  const lines = model.entities.flatMap((entity) =>
    of === "system"
      ? routesOf(entity, openRights(entity))
      : withFields(entity, reader, routesOf(entity, rightsOf(entity, reader))),
  );
  return [{ status: 200, body: lines.sort() }];
}

/** What a reader may do with some records of an entity. */
interface Rights {
  uses(access: Access, asked?: Asked): boolean;
  shows(field: string): boolean;
  writes(field: string): boolean;
  readonly reports: boolean;
}

function rightsOf(entity: EntityModel, by: Principal): Rights {
  const some = (name: string, test: (field: FieldModel) => boolean): boolean =>
    entity.fields.some((field) => field.name === name && test(field));
  return {
    uses: (access, asked = access === "create" ? "create" : "stored") =>
      reachOf(entity, entity.rules[access], by, asked) !== "none",
    shows: (name) => some(name, (field) => readableReach(entity, field, by) !== "none"),
    writes: (name) =>
      some(name, ({ writable }) => writable === undefined || reachOf(entity, writable, by, "stored") !== "none"),
    reports: entity.report !== undefined && mayReport(entity, entity.report, by),
  };
}

/** For the system: everything that the rules allow any caller. An empty list allows no caller. */
function openRights({ rules, report }: EntityModel): Rights {
  const isOpen = (list: readonly RuleModel[] | undefined): boolean => (list ?? []).length > 0;
  return {
    uses: (access) => isOpen(rules[access]),
    shows: () => true,
    writes: () => true,
    reports: report !== undefined && isOpen(report.rules ?? rules[inheritedBy(report)]),
  };
}

/** Includes the fields of the routes that read a record and a list. */
function withFields(entity: EntityModel, by: Principal, routes: readonly string[]): string[] {
  const [one, list] = [`GET /api/${entity.name}s/{id}`, `GET /api/${entity.name}s`];
  const lines = entity.fields.flatMap((field) => [
    ...(routes.includes(one) && readableReach(entity, field, by) !== "none" ? [`${one} shows ${field.name}`] : []),
    ...(routes.includes(list) && filterable(entity, field, by) ? [`${list} filters by ${field.name}`] : []),
  ]);
  return [...routes, ...lines];
}

function routesOf(entity: EntityModel, { uses, shows, writes, reports }: Rights): string[] {
  const { name, actions, report } = entity;
  const has = (action: ActionName): boolean => actions.includes(action);
  const [updates, deletes] = [uses("update"), uses("delete")];
  const routes: readonly (readonly [string, boolean])[] = [
    ["GET ", uses("read", "list")],
    ["GET /aggregate", uses("read", "list")],
    ["PUT ", uses("create")],
    ["GET /{id}", uses("read")],
    ["POST ", uses("create")],
    ["PATCH /{id}", updates],
    ["PUT /{id}", updates],
    ["DELETE /{id}", deletes],
    ["GET /count", has("count") && uses("read", "list")],
    ["GET /export", has("export") && uses("read", "list")],
    ["GET /{id}/exists", has("exists") && uses("read")],
    ["POST /import", has("import") && uses("create")],
    ["POST /{id}/clone", has("clone") && uses("create") && uses("read")],
    ["PUT /bulk", has("bulkUpdate") && updates],
    ["POST /bulk-update", has("bulkUpdate") && updates],
    ["DELETE /bulk", has("bulkDelete") && deletes],
    ["POST /bulk-delete", has("bulkDelete") && deletes],
    ["DELETE /{id}/soft", has("softDelete") && deletes],
    ["POST /{id}/restore", has("restore") && updates],
    ["POST /{id}/archive", has("archive") && updates && writes("archived")],
    ["POST /{id}/unarchive", has("unarchive") && updates && writes("archived")],
    // A toggle returns the new value.
    ["POST /{id}/toggle-flag", has("toggle") && updates && uses("read") && shows("flag") && writes("flag")],
    [`${report?.method} ${report?.onResource ? "/{id}" : ""}/report`, reports],
    ...["handled", "seed", "stepped", "stepCreate", "stepUpdate", "stepDelete"].map(
      (action) => [`POST /${action}`, true] as const,
    ),
  ];
  return routes
    .filter(([, isUsable]) => isUsable)
    .map(([route]) => {
      const [method, path] = route.split(" ");
      return `${method} /api/${name}s${path}`;
    });
}
