/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

/** State of a step, or of its compensation. */
interface StepState {
  readonly status: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Step {
  readonly name: string;
  readonly execute?: StepState;
  readonly compensate?: StepState;
}

/** A run of a workflow, as the API returns it. */
export interface Report {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly userId?: string | null;
  readonly failedStep?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly result?: unknown;
  readonly steps?: readonly Step[];
}

/** Statuses in which a run has ended. */
export const ENDED: ReadonlySet<string> = new Set([
  "completed",
  "compensated",
  "compensation_failed",
  "needs_attention",
]);
const EVERY_MS = 700;

/** The progress of a workflow run; polls until the run has ended. */
export function RunReport({ id, onEnd }: { readonly id: string; readonly onEnd?: () => void }): VNode {
  const { app } = useApp();
  const report = useRequest(`run ${id}`, async (signal) => {
    const { data } = await call<Report>(`${app.workflowRuns}/${encodeURIComponent(id)}`, { signal });
    return data;
  });
  const { data, reload } = report;
  const status = data?.status;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each report starts the wait for the next one
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
      {data.steps !== undefined && <Steps steps={data.steps} />}
      {data.result !== undefined && <pre class="result">{JSON.stringify(data.result, null, 2)}</pre>}
    </section>
  );
}

/** The steps of a run and their compensations. */
function Steps({ steps }: { readonly steps: readonly Step[] }): VNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={say("steps")}>
      <table class="diff">
        <thead>
          <tr>
            <th>{say("step")}</th>
            <th>{label("status")}</th>
            <th>{say("compensation")}</th>
            <th>{label("error")}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ name, execute, compensate }) => {
            const error = compensate?.error ?? execute?.error;
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <State state={execute} />
                </td>
                <td>
                  <State state={compensate} />
                </td>
                <td>{error === undefined ? "–" : error.message}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

const TONES: Readonly<Record<string, string>> = { done: "tag on", failed: "tag bad", unknown: "tag bad" };

function State({ state }: { readonly state: StepState | undefined }): VNode {
  if (state === undefined) return <>–</>;
  return (
    <>
      <span class={TONES[state.status] ?? "tag"}>{label(state.status)}</span>
      {state.attempt > 1 && ` ${say("attempts", { count: state.attempt })}`}
    </>
  );
}
