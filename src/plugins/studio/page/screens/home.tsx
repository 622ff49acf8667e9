/** @jsxImportSource preact */
import type { VNode } from "preact";
import { Lazy } from "../parts/lazy.tsx";
import { plural, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { label, say } from "../words.ts";

/** The first page: the entities, and the charts configured in code. It counts no records. */
export function Home(): VNode {
  const { app } = useApp();
  const listed = app.entities.filter(({ rights }) => rights.list !== undefined);
  return (
    <>
      <h1>{app.title}</h1>
      {listed.length === 0 && <p class="empty">{say("noAccess")}</p>}
      <ul class="cards">
        {listed.map((entity) => (
          <li key={entity.name} class="card">
            <h2>
              <a href={linkTo([entity.path])}>{plural(entity)}</a>
            </h2>
            {entity.rights.create !== undefined && (
              <a href={linkTo([entity.path, "!new"])}>{say("create", { name: label(entity.name).toLowerCase() })}</a>
            )}
          </li>
        ))}
      </ul>
      {app.charts.length > 0 && (
        <div class="charts">
          {app.charts.map((chart) => (
            <Lazy
              key={JSON.stringify(chart)}
              name="dashboard-chart"
              load={async () => (await import("./chart.tsx")).DashboardChart}
              props={{ chart }}
            />
          ))}
        </div>
      )}
    </>
  );
}
