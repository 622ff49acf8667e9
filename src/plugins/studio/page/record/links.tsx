/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { EntityDescription, RelationDescription } from "../../app-document.ts";
import { Picker } from "../fields/picker.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call, messageOf } from "../state/api.ts";
import { entityNamed, pathOf, type Row, titleOf, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

/** Maximum number of linked records that are shown. */
const SHOWN = 200;

interface LinksProps {
  readonly entity: EntityDescription;
  readonly relation: RelationDescription;
  readonly record: Row;
  readonly onChange: () => void;
}

/** The records of a many-to-many relation. Each is added or removed with its own request. */
export function Links({ entity, relation, record, onChange }: LinksProps): VNode {
  const { app, tell } = useApp();
  const id = useId();
  const [error, setError] = useState<string | undefined>(undefined);
  const target = entityNamed(app, relation.target);
  const own = String(record.id);
  const linked = useRequest(
    target === undefined ? undefined : `${entity.name} ${own} ${relation.name}`,
    async (signal) => {
      const select = target === undefined || target.title === "id" ? ["id"] : ["id", target.title];
      const query = new URLSearchParams({
        select: "id",
        include: JSON.stringify({ [relation.name]: { select, limit: SHOWN } }),
      });
      const { data, headers } = await call<Row>(`${pathOf(app, entity, "/:id", own)}?${query}`, { signal });
      const etag = entity.versioned ? (headers.get("etag") ?? undefined) : undefined;
      return { rows: (data[relation.name] ?? []) as Row[], etag };
    },
  );
  if (target === undefined) return <p class="empty">{say("empty")}</p>;
  const change = async (verb: "connect" | "disconnect", other: string): Promise<void> => {
    setError(undefined);
    try {
      const path = `${pathOf(app, entity, "/:id", own)}?select=id`;
      const etag = linked.data?.etag;
      const headers = etag === undefined ? {} : { "if-match": etag };
      await call(path, { method: "PATCH", headers, json: { [relation.name]: { [verb]: [other] } } });
      tell(say("saved"));
      linked.reload();
      onChange();
    } catch (caught) {
      setError(messageOf(caught));
    }
  };
  const mayChange = entity.rights.update !== undefined;
  return (
    <section aria-label={label(relation.name)}>
      {error !== undefined && (
        <p class="alert" role="alert">
          {error}
        </p>
      )}
      {linked.error !== undefined && <Failure error={linked.error} onRetry={linked.reload} />}
      {linked.data === undefined && linked.error === undefined && <Loading />}
      {linked.data?.rows.length === 0 && <p class="empty">{say("empty")}</p>}
      <ul class="chips">
        {(linked.data?.rows ?? []).map((other) => (
          <li key={String(other.id)}>
            <a href={linkTo([target.path, String(other.id)])}>{titleOf(target, other)}</a>
            {mayChange && (
              <button
                type="button"
                class="quiet"
                aria-label={`${say("remove")}: ${titleOf(target, other)}`}
                onClick={() => void change("disconnect", String(other.id))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayChange && target.rights.list !== undefined && (
        <div class="field">
          <label for={`${id}-add`}>{say("add")}</label>
          <Picker
            entity={target}
            id={`${id}-add`}
            value=""
            isOneOfMany
            onChange={(other) => void change("connect", other)}
          />
        </div>
      )}
    </section>
  );
}
