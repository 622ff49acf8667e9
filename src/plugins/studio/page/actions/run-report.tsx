/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

interface Report {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly failedStep?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly result?: unknown;
}

const ENDED = new Set(["completed", "compensated", "compensation_failed", "needs_attention"]);
const EVERY_MS = 700;

/** How far a run of a workflow has come; it is asked again until the run has ended. */
export function RunReport({ id, onEnd }: { readonly id: string; readonly onEnd?: () => void }): VNode {
  const { app } = useApp();
  const report = useRequest(`run ${id}`, async (signal) => {
    const { data } = await call<Report>(`${app.workflowRuns}/${encodeURIComponent(id)}`, { signal });
    return data;
  });
  const { data, reload } = report;
  const status = data?.status;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each report begins the wait for the next one
  useEffect(() => {
    if (status === undefined) return;
    if (ENDED.has(status)) {
      onEnd?.();
      return;
    }
    const timer = setTimeout(reload, EVERY_MS);
    return () => clearTimeout(timer);
  }, [data]);
  if (report.error !== undefined) return <Failure error={report.error} onRetry={reload} />;
  if (data === undefined) return <Loading />;
  const isGood = data.status === "completed";
  return (
    <section class="run" aria-label={say("run")} aria-live="polite">
      <p>
        <strong>{data.name}</strong>{" "}
        <span class={isGood ? "tag on" : ENDED.has(data.status) ? "tag bad" : "tag"}>{label(data.status)}</span>
      </p>
      <dl class="details">
        <dt>Id</dt>
        <dd>
          <code>{data.id}</code>
        </dd>
        <dt>{label("startedAt")}</dt>
        <dd>{data.startedAt}</dd>
        <dt>{label("updatedAt")}</dt>
        <dd>{data.updatedAt}</dd>
        {data.failedStep !== undefined && (
          <>
            <dt>{label("failedStep")}</dt>
            <dd>{data.failedStep}</dd>
          </>
        )}
        {data.error !== undefined && (
          <>
            <dt>{label("error")}</dt>
            <dd>
              {data.error.message} <code>{data.error.code}</code>
            </dd>
          </>
        )}
      </dl>
      {data.result !== undefined && <pre class="result">{JSON.stringify(data.result, null, 2)}</pre>}
    </section>
  );
}
