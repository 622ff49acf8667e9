/** @jsxImportSource preact */
import type { VNode } from "preact";
import { Loading } from "../parts/status.tsx";
import { call, messageOf } from "../state/api.ts";
import { plural, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { say } from "../words.ts";
import { Keys } from "./keys.tsx";
import { Runs } from "./runs.tsx";
import { Services } from "./services.tsx";
import { ViewAs } from "./view-as.tsx";

/** Health, deleted records and workflow runs; for administrators also keys, services and viewing as another user. */
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
      {app.workflowRuns !== undefined && app.caller.kind === "user" && <Runs path={app.workflowRuns} />}
      {app.keys !== undefined && <Keys path={app.keys} />}
      {app.services !== undefined && <Services path={app.services} />}
      {app.viewAs !== undefined && <ViewAs path={app.viewAs} />}
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
