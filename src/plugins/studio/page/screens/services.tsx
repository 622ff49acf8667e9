/** @jsxImportSource preact */
import type { VNode } from "preact";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { useRequest } from "../state/use-request.ts";
import { say } from "../words.ts";

interface Service {
  readonly name: string;
  readonly state: "closed" | "open" | "half-open";
}

const WORDS = { closed: "serviceClosed", open: "serviceOpen", "half-open": "serviceHalfOpen" } as const;

/** The services that relations use, and whether the app currently sends requests to them. */
export function Services({ path }: { readonly path: string }): VNode {
  const services = useRequest(path, async (signal) => (await call<readonly Service[]>(path, { signal })).data);
  return (
    <section class="card" aria-label={say("services")}>
      <h2>{say("services")}</h2>
      {services.error !== undefined && <Failure error={services.error} onRetry={services.reload} />}
      {services.data === undefined && services.error === undefined && <Loading />}
      {services.data?.map(({ name, state }) => (
        <p key={name}>
          {name} <span class={state === "closed" ? "tag on" : "tag bad"}>{say(WORDS[state])}</span>
        </p>
      ))}
      <button type="button" class="quiet" onClick={services.reload}>
        {say("check")}
      </button>
    </section>
  );
}
