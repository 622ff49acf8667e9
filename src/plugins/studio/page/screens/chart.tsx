/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { ChartDescription, EntityDescription } from "../../app-document.ts";
import { conditionsOf, readList } from "../list/list-query.ts";
import { Failure, Loading } from "../parts/status.tsx";
import { entityNamed, plural, useApp } from "../state/app-context.ts";
import { goTo, linkTo, usePlace } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { say } from "../words.ts";
import { Bars } from "./bars.tsx";
import { chartLabel, groupsOf, loadBars, measuresOf } from "./chart-data.ts";

/** Counts and sums, by group, of the records that match the list's conditions. */
export function ChartScreen({ entity }: { readonly entity: EntityDescription }): VNode {
  const { app } = useApp();
  const { search } = usePlace();
  const groups = groupsOf(entity);
  const measures = measuresOf(entity);
  const group = search.get("group") ?? groups.find((name) => name === "month(createdAt)") ?? groups[0] ?? "id";
  const measure = search.get("measure") ?? "count";
  const conditions = conditionsOf(app, entity, readList(app, entity, search));
  const show = (change: Readonly<Record<string, string>>): void =>
    goTo(
      linkTo(
        [entity.path, "!chart"],
        new URLSearchParams([...conditions, ...Object.entries({ group, measure, ...change })]),
      ),
    );
  return (
    <>
      <p class="crumbs">
        <a href={linkTo([entity.path], conditions)}>{plural(entity)}</a>
      </p>
      <h1>{say("chart")}</h1>
      <div class="bar">
        <Choice
          entity={entity}
          text={say("measure")}
          value={measure}
          of={measures}
          onChange={(value) => show({ measure: value })}
        />
        <Choice
          entity={entity}
          text={say("group")}
          value={group}
          of={groups}
          onChange={(value) => show({ group: value })}
        />
      </div>
      <Chart
        entity={entity}
        group={group}
        measure={measure}
        conditions={conditions}
        title={`${chartLabel(entity, measure)} · ${chartLabel(entity, group)}`}
      />
    </>
  );
}

interface ChoiceProps {
  readonly entity: EntityDescription;
  readonly text: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ entity, text, value, of, onChange }: ChoiceProps): VNode {
  return (
    <label class="inline">
      {text}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {of.map((one) => (
          <option key={one} value={one}>
            {chartLabel(entity, one)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ChartProps {
  readonly entity: EntityDescription;
  readonly group: string;
  readonly measure: string;
  readonly conditions: URLSearchParams;
  readonly title: string;
}

function Chart({ entity, group, measure, conditions, title }: ChartProps): VNode {
  const { app } = useApp();
  const bars = useRequest(`${entity.name} ${group} ${measure} ${conditions}`, (signal) =>
    loadBars(app, entity, group, measure, conditions, signal),
  );
  if (bars.error !== undefined) return <Failure error={bars.error} onRetry={bars.reload} />;
  if (bars.data === undefined) return <Loading />;
  return <Bars bars={bars.data} title={title} />;
}

/** A chart of the first page, as configured in code. */
export function DashboardChart({ chart }: { readonly chart: ChartDescription }): VNode | null {
  const { app } = useApp();
  const entity = entityNamed(app, chart.entity);
  if (entity === undefined) return null;
  const measure = chart.measure ?? "count";
  const title = chart.title ?? `${plural(entity)}: ${chartLabel(entity, measure)} · ${chartLabel(entity, chart.group)}`;
  return (
    <section class="card" aria-label={title}>
      <h2>
        <a href={linkTo([entity.path, "!chart"], { group: chart.group, measure })}>{title}</a>
      </h2>
      <Chart entity={entity} group={chart.group} measure={measure} conditions={new URLSearchParams()} title={title} />
    </section>
  );
}
