import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, it, onTestFinished } from "vitest";
import { CANARIES, serveBlog } from "./blog.ts";

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });

/** How many requests were measured, by their attributes. */
async function measured(): Promise<Map<string, number>> {
  exporter.reset();
  await reader.forceFlush();
  const found = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: list }) => list));
  return new Map(
    found
      .filter(({ descriptor: { name, unit } }) => name === "http.server.request.duration" && unit === "s")
      .flatMap(({ dataPoints }) =>
        dataPoints.map(({ attributes, value }) => [JSON.stringify(attributes), (value as { count: number }).count]),
      ),
  );
}

it("measures requests by method, route and status, and never by submitted values", async () => {
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  onTestFinished(() => reader.shutdown());
  const { ask } = await serveBlog();
  for (const id of ["p1", CANARIES.title, "p2"]) await ask("GET", `/api/posts/${id}?select=title`);
  await ask("GET", "/broken");
  await ask("PROPFIND", `/${CANARIES.secret}`);
  const silent = await serveBlog({ metrics: false });
  await silent.ask("GET", "/api/posts/p1");
  const of = (method: string, route: string | undefined, status: number, error?: string) =>
    JSON.stringify({
      "http.request.method": method,
      "http.response.status_code": status,
      "http.route": route,
      "error.type": error,
    });
  expect(await measured()).toEqual(
    new Map([
      [of("GET", "/api/posts/:id", 200), 1],
      [of("GET", "/api/posts/:id", 404), 2],
      [of("GET", "/broken", 500, "500"), 1],
      [of("_OTHER", undefined, 404), 1],
    ]),
  );
});
