/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { type Operator, operandOf } from "../../../../entity/kinds/operators.ts";
import type { AppDocument, EntityDescription, FieldDescription } from "../../app-document.ts";
import { Input } from "../fields/input.tsx";
import { itemOf, widgetOf } from "../fields/widget.ts";
import { entityNamed, fieldOf, referredBy, useApp } from "../state/app-context.ts";
import { label, say } from "../words.ts";
import { type Filter, fieldAt, filterPaths, type ListState } from "./list-query.ts";

interface FiltersProps {
  readonly entity: EntityDescription;
  readonly state: Pick<ListState, "filters" | "isAny" | "where">;
  readonly onChange: (change: Partial<ListState>) => void;
}

/** The conditions of a list: field, operator and value. They take effect when they are applied. */
export function Filters({ entity, state, onChange }: FiltersProps): VNode {
  const { filters, isAny, where } = state;
  const { app } = useApp();
  const id = useId();
  const text = JSON.stringify(filters);
  const [draft, setDraft] = useState(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text changes when the filters do
  useEffect(() => setDraft(filters), [text]);
  const paths = filterPaths(app, entity);
  const change = (index: number, next: Filter): void => setDraft(draft.map((one, at) => (at === index ? next : one)));
  const submit = (event: Event): void => {
    event.preventDefault();
    onChange({ filters: draft.filter(({ value }) => value !== "") });
  };
  return (
    <form class="filters" aria-label={say("filters")} onSubmit={submit}>
      {draft.map((filter, index) => {
        const field = fieldAt(app, entity, filter.path);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition is identified by its position
          <div key={index} class="filter">
            <select
              aria-label={say("field")}
              value={filter.path}
              onChange={(event) => change(index, emptyFilter(app, entity, event.currentTarget.value))}
            >
              <PathOptions entity={entity} paths={paths} />
            </select>
            <select
              aria-label={say("operator")}
              value={filter.operator}
              onChange={(event) => change(index, withOperator(filter, event.currentTarget.value as Operator, field))}
            >
              {(field?.operators ?? []).map((operator) => (
                <option key={operator} value={operator}>
                  {say(`op.${operator}`)}
                </option>
              ))}
            </select>
            {field !== undefined && (
              <Input
                id={`${id}-${index}`}
                label={`${say("value")}: ${pathLabel(entity, filter.path)}`}
                field={valueField(field, filter.operator)}
                target={isPicked(filter) ? targetAt(app, entity, filter.path, field) : undefined}
                text={shownValue(field, filter)}
                onChange={(value) => change(index, { ...filter, value: sentValue(field, filter.operator, value) })}
              />
            )}
            <button
              type="button"
              class="quiet"
              aria-label={`${say("remove")}: ${pathLabel(entity, filter.path)}`}
              onClick={() => onChange({ filters: draft.filter(({ value }, at) => at !== index && value !== "") })}
            >
              ×
            </button>
          </div>
        );
      })}
      {where !== undefined && (
        <p class="note">
          <code>{where}</code>{" "}
          <button
            type="button"
            class="quiet"
            aria-label={`${say("remove")}: JSON`}
            onClick={() => onChange({ where: undefined })}
          >
            ×
          </button>
        </p>
      )}
      <div class="buttons">
        {draft.length > 1 && (
          <select
            class="theme"
            aria-label={say("match")}
            value={isAny ? "any" : "all"}
            onChange={(event) => onChange({ isAny: event.currentTarget.value === "any" })}
          >
            <option value="all">{say("matchAll")}</option>
            <option value="any">{say("matchAny")}</option>
          </select>
        )}
        <button
          type="button"
          onClick={() => setDraft([...draft, emptyFilter(app, entity, filterable(entity) ?? paths[0] ?? "id")])}
        >
          + {say("addFilter")}
        </button>
        {draft.length > 0 && (
          <button type="submit" class="primary">
            {say("apply")}
          </button>
        )}
      </div>
    </form>
  );
}

function PathOptions({
  entity,
  paths,
}: {
  readonly entity: EntityDescription;
  readonly paths: readonly string[];
}): VNode {
  const related = entity.relations.map(({ name }) => name);
  return (
    <>
      {paths
        .filter((path) => !path.includes("."))
        .map((path) => (
          <option key={path} value={path}>
            {pathLabel(entity, path)}
          </option>
        ))}
      {related.map((relation) => (
        <optgroup key={relation} label={label(relation)}>
          {paths
            .filter((path) => path.startsWith(`${relation}.`))
            .map((path) => (
              <option key={path} value={path}>
                {pathLabel(entity, path)}
              </option>
            ))}
        </optgroup>
      ))}
    </>
  );
}

/** Readable form of a path such as `genre.name`. A key is shown with the name of its relation. */
function pathLabel(entity: EntityDescription, path: string): string {
  return (fieldOf(entity, path)?.relation ?? path).split(".").map(label).join(" › ");
}

function filterable({ fields, title }: EntityDescription): string | undefined {
  return fields.find(({ name, operators = [] }) => name === title && operators.length > 0)?.name;
}

/** A new condition on a field, with the most common operator for its kind. */
function emptyFilter(app: AppDocument, entity: EntityDescription, path: string): Filter {
  const field = fieldAt(app, entity, path);
  const operators = field?.operators ?? [];
  const isWord = field !== undefined && field.relation === undefined && ["text", "long"].includes(widgetOf(field));
  const wanted = isWord && field.kind !== "id" ? "like" : field !== undefined && isOrdered(field) ? "gte" : "eq";
  return { path, operator: operators.includes(wanted) ? wanted : (operators[0] ?? "eq"), value: "" };
}

function isOrdered(field: FieldDescription): boolean {
  return ["number", "exact", "datetime", "date"].includes(widgetOf(field));
}

function withOperator(filter: Filter, operator: Operator, field: FieldDescription | undefined): Filter {
  const isOther = (operandOf(filter.operator) === "truth") !== (operandOf(operator) === "truth");
  return { ...filter, operator, value: isOther || field === undefined ? "" : filter.value };
}

const TRUTH: FieldDescription = { name: "null", kind: "bool", schema: { type: "boolean" }, optional: false };

/** The field for the value of a condition: of the field's kind, a boolean, or text (a part of a value, or a list). */
function valueField(field: FieldDescription, operator: Operator): FieldDescription {
  switch (operandOf(operator)) {
    case "truth":
      return TRUTH;
    case "value":
    case "item":
      return { ...itemOf(field), optional: false, isPassword: false };
    default:
      return { name: field.name, kind: "string", schema: { type: "string" }, optional: true };
  }
}

function isPicked({ operator }: Filter): boolean {
  return operator === "eq" || operator === "ne";
}

function targetAt(app: AppDocument, entity: EntityDescription, path: string, field: FieldDescription) {
  const [relation, inner] = path.split(".");
  if (inner === undefined) return referredBy(app, entity, field);
  const target = entityNamed(app, entity.relations.find(({ name }) => name === relation)?.target);
  return target && referredBy(app, target, field);
}

/** A datetime in a condition is in UTC, as on the rest of the page. */
function sentValue(field: FieldDescription, operator: Operator, value: string): string {
  const isMoment = widgetOf(valueField(field, operator)) === "datetime";
  return isMoment && value !== "" && !/Z$/i.test(value)
    ? `${/T\d\d:\d\d$/.test(value) ? `${value}:00` : value}Z`
    : value;
}

function shownValue(field: FieldDescription, { value, operator }: Filter): string {
  return widgetOf(valueField(field, operator)) === "datetime" ? value.replace(/(\.000)?Z$/, "") : value;
}
