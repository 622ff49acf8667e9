/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call, messageOf } from "../state/api.ts";
import { useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

interface Usage {
  readonly entity: string;
  readonly field: string;
  readonly keyId: string | null;
  readonly values: number;
}

interface Counted {
  readonly ids: readonly string[];
  readonly usages: readonly Usage[];
  readonly next?: string;
}

interface Progress {
  readonly keyId: string;
  readonly total: number;
  readonly records: number;
  readonly reEncrypted: number;
  readonly failed: number;
  readonly complete: boolean;
}

/** The keys of encrypted fields: the number of values per key, and the rotation of all values to the first key. */
export function Keys({ path }: { readonly path: string }): VNode {
  const { tell } = useApp();
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const [isAsking, setAsking] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string | undefined>(undefined);
  const isStopped = useRef(false);
  const [wantsAll, setWantsAll] = useState(false);
  const most = wantsAll ? Number.POSITIVE_INFINITY : FIRST;
  const counted = useRequest(`keys ${wantsAll}`, (signal) => countValues(path, most, signal));

  /** Re-encrypts some records with each request, until all are done. When it is stopped, finished records stay done. */
  const rotate = async (): Promise<void> => {
    setAsking(false);
    setRunning(true);
    setError(undefined);
    isStopped.current = false;
    try {
      let now: Progress | undefined = progress?.complete === false ? progress : undefined;
      while (now?.complete !== true && !isStopped.current) {
        const answer = await call<Progress>(`${path}/rotate`, { method: "POST", json: withoutComplete(now) });
        now = answer.data;
        setProgress(now);
      }
      if (now?.complete === true) tell(say("rotated", { count: now.reEncrypted, key: now.keyId }));
    } catch (caught) {
      setError(messageOf(caught));
    }
    setRunning(false);
    counted.reload();
  };

  const { data } = counted;
  return (
    <section class="card" aria-label={say("keys")}>
      <h2>{say("keys")}</h2>
      {counted.error !== undefined && <Failure error={counted.error} onRetry={counted.reload} />}
      {data === undefined && counted.error === undefined && <Loading />}
      {data !== undefined && (
        <>
          {data.ids.map((id, index) => (
            <p key={id}>
              <span class={index === 0 ? "tag on" : "tag"}>{id}</span> {say(index === 0 ? "keyEncrypts" : "keyReads")}
            </p>
          ))}
          <UsageTable usages={data.usages} ids={data.ids} />
          {data.next !== undefined && (
            <p>
              {say(wantsAll ? "counting" : "countedSome")}{" "}
              {!wantsAll && (
                <button type="button" class="quiet" onClick={() => setWantsAll(true)}>
                  {say("countAll")}
                </button>
              )}
            </p>
          )}
        </>
      )}
      {progress !== undefined && (
        <p role="status">
          <progress
            aria-label={say("rotation")}
            max={Math.max(progress.total, 1)}
            value={Math.min(progress.records, progress.total)}
          />{" "}
          {say("rotationProgress", { records: progress.records, total: progress.total, count: progress.reEncrypted })}{" "}
          {progress.failed > 0 && <span class="tag bad">{say("rotationFailed", { count: progress.failed })}</span>}
        </p>
      )}
      {error !== undefined && (
        <p class="alert" role="alert">
          {error}
        </p>
      )}
      <div class="tools">
        {isRunning ? (
          <button type="button" onClick={() => (isStopped.current = true)}>
            {say("stop")}
          </button>
        ) : (
          <button type="button" onClick={() => setAsking(true)}>
            {say("rotate")}
          </button>
        )}
      </div>
      {isAsking && (
        <Confirm
          title={say("rotate")}
          text={say("rotateHint", { key: data?.ids[0] ?? "" })}
          submit={say("rotate")}
          onClose={() => setAsking(false)}
          onConfirm={async () => void rotate()}
        />
      )}
    </section>
  );
}

function withoutComplete(progress: Progress | undefined): object {
  if (progress === undefined) return {};
  const { complete: _, ...rest } = progress;
  return rest;
}

/** Maximum number of requests for the first count; the caller can ask for a complete count. */
const FIRST = 5;

/** @param most number of requests; the result has `next` when this was not enough for all records */
async function countValues(path: string, most: number, signal: AbortSignal): Promise<Counted> {
  let { data } = await call<Counted>(path, { signal });
  const { ids } = data;
  const usages = [...data.usages];
  for (let times = 1; data.next !== undefined && times < most; times++) {
    data = (await call<Counted>(`${path}?${new URLSearchParams({ _after: data.next })}`, { signal })).data;
    for (const one of data.usages) {
      const at = usages.findIndex((usage) => isSame(usage, one));
      const known = usages[at];
      if (known === undefined) usages.push(one);
      else usages[at] = { ...known, values: known.values + one.values };
    }
  }
  return { ...data, ids, usages };
}

function isSame(one: Usage, other: Usage): boolean {
  return one.entity === other.entity && one.field === other.field && one.keyId === other.keyId;
}

function UsageTable({ usages, ids }: Omit<Counted, "next">): VNode {
  if (usages.length === 0) return <p class="empty">{say("noValues")}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={say("values")}>
      <table class="diff">
        <thead>
          <tr>
            <th>{say("data")}</th>
            <th>{say("field")}</th>
            <th>{say("key")}</th>
            <th>{say("values")}</th>
          </tr>
        </thead>
        <tbody>
          {usages.map(({ entity, field, keyId, values }) => (
            <tr key={`${entity}.${field}.${keyId}`}>
              <td>{label(entity)}</td>
              <td>{label(field)}</td>
              <td>
                {keyId === null ? "–" : keyId}{" "}
                {keyId !== null && !ids.includes(keyId) && <span class="tag bad">{say("keyMissing")}</span>}
              </td>
              <td>{values}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
