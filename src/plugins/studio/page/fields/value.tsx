/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { EntityDescription, FieldDescription } from "../../app-document.ts";
import { type Row, referredBy, relationOf, titleOf, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { say } from "../words.ts";
import { widgetOf } from "./widget.ts";

/** Shows a value. */
export function ValueText({ field, value }: { readonly field: FieldDescription; readonly value: unknown }): VNode {
  if (value === null || value === undefined) return <span class="nothing">–</span>;
  switch (widgetOf(field)) {
    case "bool":
      return <span class={value === true ? "tag on" : "tag"}>{say(value === true ? "yes" : "no")}</span>;
    case "choice":
      return <span class="tag">{String(value)}</span>;
    case "datetime":
      return (
        <time dateTime={String(value)} title={String(value)}>
          {shortMoment(String(value))}
        </time>
      );
    case "number":
    case "exact":
      return <>{grouped(String(value))}</>;
    case "json":
      return <code>{JSON.stringify(value)}</code>;
    default:
      return <>{String(value)}</>;
  }
}

/** The same number, with its digits in groups of three when it has five or more. */
export function grouped(text: string): string {
  const [whole = "", ...rest] = text.split(".");
  return /^-?\d{5,}$/.test(whole) ? [whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"), ...rest].join(".") : text;
}

/** A date and time in UTC; the time is left out at midnight. */
export function shortMoment(text: string): string {
  const [day = text, time = ""] = text.split("T");
  const clock = time.replace(/(:00)?(\.\d+)?Z$/, "");
  return clock === "" || clock === "00:00" ? day : `${day} ${clock}`;
}

/** A field of a record. A reference is shown as the related record when the response contains it. */
export function FieldValue({
  entity,
  field,
  record,
}: {
  readonly entity: EntityDescription;
  readonly field: FieldDescription;
  readonly record: Row;
}): VNode {
  const { app } = useApp();
  const value = record[field.name];
  const target = referredBy(app, entity, field);
  const relation = relationOf(entity, field);
  const related = relation === undefined ? undefined : (record[relation.name] as Row | null | undefined);
  if (!(field.name in record) && field.read === "some") return <span class="nothing">{say("hidden")}</span>;
  if (target !== undefined && value !== null && value !== undefined)
    return <a href={linkTo([target.path, String(value)])}>{related ? titleOf(target, related) : String(value)}</a>;
  return <ValueText field={field} value={value} />;
}
