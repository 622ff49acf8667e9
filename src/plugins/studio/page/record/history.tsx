/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { EntityDescription } from "../../app-document.ts";
import { shortMoment } from "../fields/value.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { pathOf, type Row, useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

/** An entry of the audit log. */
interface Entry extends Row {
  readonly id: string;
  readonly at: string;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly operation: string;
  readonly action: string | null;
  readonly changed: readonly string[];
  readonly before: Row | null;
  readonly after: Row | null;
}

const SHOWN = 50;

interface HistoryProps {
  /** Entity of the audit entries, which the caller may list. */
  readonly audit: EntityDescription;
  readonly entity: EntityDescription;
  readonly id: string;
}

/** The changes of a record, the newest first: the user, and the values before and after. */
export function History({ audit, entity, id }: HistoryProps): VNode {
  const { app } = useApp();
  const entries = useRequest(`history ${entity.name} ${id}`, async (signal) => {
    const query = new URLSearchParams({
      entity: entity.name,
      recordId: id,
      _sort: "-at",
      _limit: String(SHOWN),
      _total: "none",
    });
    const { data } = await call<Entry[]>(`${pathOf(app, audit)}?${query}`, { signal });
    return data;
  });
  if (entries.error !== undefined) return <Failure error={entries.error} onRetry={entries.reload} />;
  if (entries.data === undefined) return <Loading />;
  if (entries.data.length === 0) return <p class="empty">{say("empty")}</p>;
  return (
    <ol class="history">
      {entries.data.map((entry) => (
        <li key={entry.id}>
          <p>
            <time dateTime={entry.at}>{shortMoment(entry.at)}</time>{" "}
            <strong>{label(entry.action ?? entry.operation)}</strong> {entry.actorId ?? entry.actorKind}
          </p>
          <table class="diff">
            <thead>
              <tr>
                <th>{say("field")}</th>
                <th>{label("before")}</th>
                <th>{label("after")}</th>
              </tr>
            </thead>
            <tbody>
              {entry.changed.map((name) => (
                <tr key={name}>
                  <th scope="row">{label(name)}</th>
                  <td>{textOf(entry.before, name)}</td>
                  <td>{textOf(entry.after, name)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </li>
      ))}
    </ol>
  );
}

/** A value of an entry. Entries do not contain protected values. */
function textOf(values: Row | null, name: string): string {
  const value = values?.[name];
  if (value === undefined || value === null) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
