/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { RunReport } from "../actions/run-report.tsx";
import { Loading } from "../parts/status.tsx";
import { call, messageOf } from "../state/api.ts";
import { plural, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { notedRuns } from "../state/runs.ts";
import { useRequest } from "../state/use-request.ts";
import { say } from "../words.ts";

/** How the app is, what was deleted, and workflow runs. */
export function Operations(): VNode {
  const { app } = useApp();
  const deleted = app.entities.filter(({ deletedAt }) => deletedAt !== undefined);
  return (
    <>
      <h1>{say("operations")}</h1>
      {app.health !== undefined && <Health path={app.health} />}
      {deleted.length > 0 && (
        <section class="card" aria-label={say("deletedOnly")}>
          <h2>{say("deletedOnly")}</h2>
          <ul>
            {deleted.map((entity) => (
              <li key={entity.name}>
                <a href={linkTo([entity.path], { _deleted: "only" })}>{plural(entity)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {app.workflowRuns !== undefined && <Runs />}
    </>
  );
}

function Health({ path }: { readonly path: string }): VNode {
  const health = useRequest(path, async (signal) => {
    await call(path, { signal });
    return true;
  });
  return (
    <section class="card" aria-label={say("health")}>
      <h2>{say("health")}</h2>
      {health.isLoading && health.data === undefined && health.error === undefined ? (
        <Loading />
      ) : (
        <p role="status">
          <span class={health.error === undefined ? "tag on" : "tag bad"}>
            {health.error === undefined ? say("healthy") : say("unhealthy", { message: messageOf(health.error) })}
          </span>{" "}
          <button type="button" class="quiet" onClick={health.reload}>
            {say("check")}
          </button>
        </p>
      )}
    </section>
  );
}

/** Reports of runs: the API gives the caller's own, and to administrators any. */
function Runs(): VNode {
  const id = useId();
  const noted = notedRuns();
  const [typed, setTyped] = useState("");
  const [shown, setShown] = useState<string | undefined>(noted[0]?.id);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (typed.trim() !== "") setShown(typed.trim());
  };
  return (
    <section class="card" aria-label={say("runs")}>
      <h2>{say("runs")}</h2>
      <p>{say("runHint")}</p>
      <ul class="chips">
        {noted.map((run) => (
          <li key={run.id}>
            <button type="button" class="quiet" onClick={() => setShown(run.id)}>
              {run.name}
            </button>
          </li>
        ))}
      </ul>
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
      {shown !== undefined && <RunReport key={shown} id={shown} />}
    </section>
  );
}
