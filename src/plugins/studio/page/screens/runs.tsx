/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { ENDED, type Report, RunReport } from "../actions/run-report.tsx";
import { shortMoment } from "../fields/value.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

const STATUSES = [
  "pending",
  "running",
  "completed",
  "compensating",
  "compensated",
  "compensation_failed",
  "needs_attention",
];
const PAGE = 20;

/** Workflow runs: the caller's own; for administrators all runs. */
export function Runs({ path }: { readonly path: string }): VNode {
  const { app } = useApp();
  const id = useId();
  const [status, setStatus] = useState("");
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [typed, setTyped] = useState("");
  const [shown, setShown] = useState<string | undefined>(undefined);
  const after = cursors.at(-1);
  const query = new URLSearchParams({
    _limit: String(PAGE),
    ...(status === "" ? {} : { status }),
    ...(after === undefined ? {} : { _after: after }),
  });
  const runs = useRequest(`runs ${query}`, async (signal) => {
    const { data, headers } = await call<readonly Report[]>(`${path}?${query}`, { signal });
    return { list: data, next: headers.get("x-next-cursor") };
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    if (typed.trim() !== "") setShown(typed.trim());
  };
  const { data } = runs;
  return (
    <section class="card" aria-label={say("runs")}>
      <h2>{say("runs")}</h2>
      <div class="tools">
        <label>
          {label("status")}{" "}
          <select
            value={status}
            onChange={(event) => {
              setStatus(event.currentTarget.value);
              setCursors([]);
            }}
          >
            <option value="">{say("all")}</option>
            {STATUSES.map((one) => (
              <option key={one} value={one}>
                {label(one)}
              </option>
            ))}
          </select>
        </label>
        <form class="search" onSubmit={submit}>
          <label for={`${id}-run`} class="hidden">
            {say("runId")}
          </label>
          <input
            id={`${id}-run`}
            placeholder={say("runId")}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit">{say("show")}</button>
        </form>
        <button type="button" class="quiet" onClick={runs.reload}>
          {say("check")}
        </button>
      </div>
      {runs.error !== undefined && <Failure error={runs.error} onRetry={runs.reload} />}
      {data === undefined && runs.error === undefined && <Loading />}
      {data?.list.length === 0 && <p class="empty">{say("empty")}</p>}
      {data !== undefined && data.list.length > 0 && (
        <RunTable list={data.list} isAdmin={app.caller.isAdmin} onShow={setShown} />
      )}
      <div class="tools">
        {cursors.length > 0 && (
          <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>
            {say("previous")}
          </button>
        )}
        {typeof data?.next === "string" && (
          <button type="button" onClick={() => setCursors([...cursors, data.next as string])}>
            {say("next")}
          </button>
        )}
      </div>
      {shown !== undefined && (
        <Dialog title={say("run")} isWide={true} onClose={() => setShown(undefined)}>
          <RunReport key={shown} id={shown} />
        </Dialog>
      )}
    </section>
  );
}

interface RunTableProps {
  readonly list: readonly Report[];
  readonly isAdmin: boolean;
  readonly onShow: (id: string) => void;
}

function RunTable({ list, isAdmin, onShow }: RunTableProps): VNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={label("list")}>
      <table class="diff">
        <thead>
          <tr>
            <th>{say("workflow")}</th>
            <th>{label("status")}</th>
            <th>{label("startedAt")}</th>
            {isAdmin && <th>{label("user")}</th>}
            <th>{label("failedStep")}</th>
            <th>{label("error")}</th>
          </tr>
        </thead>
        <tbody>
          {list.map((run) => (
            <tr key={run.id}>
              <td>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`${run.name}, ${shortMoment(run.startedAt)}`}
                  onClick={() => onShow(run.id)}
                >
                  {run.name}
                </button>
              </td>
              <td>
                <RunStatus status={run.status} />
              </td>
              <td>{shortMoment(run.startedAt)}</td>
              {isAdmin && <td>{run.userId ?? "–"}</td>}
              <td>{run.failedStep ?? "–"}</td>
              <td>{run.error?.message ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The status of a run: ended well, ended badly, or still running. */
function RunStatus({ status }: { readonly status: string }): VNode {
  const tone = status === "completed" ? "tag on" : ENDED.has(status) ? "tag bad" : "tag";
  return <span class={tone}>{label(status)}</span>;
}
