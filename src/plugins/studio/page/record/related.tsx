/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { EntityDescription, RelationDescription } from "../../app-document.ts";
import { shapeOf, usualColumns } from "../list/list-query.ts";
import { Table } from "../list/table.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { entityNamed, pathOf, plural, type Row, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { say } from "../words.ts";

/** Maximum number of related records in a tab; the link leads to all of them. */
const SHOWN = 20;

interface RelatedProps {
  readonly entity: EntityDescription;
  readonly relation: RelationDescription;
  readonly record: Row;
}

/** The records that refer to this one by their foreign key. Their own access rules apply. */
export function Related({ relation, record }: RelatedProps): VNode {
  const { app } = useApp();
  const { foreignKey = "" } = relation;
  const target = entityNamed(app, relation.target);
  const id = String(record.id);
  const columns = target === undefined ? [] : usualColumns(target).filter((name) => name !== foreignKey);
  const found = useRequest(
    target?.rights.list === undefined ? undefined : `${relation.target} ${foreignKey} ${id}`,
    async (signal) => {
      const own = target as EntityDescription;
      const { select, include } = shapeOf(app, own, columns);
      const query = new URLSearchParams({
        [foreignKey]: id,
        select: select.join(),
        _limit: String(SHOWN),
        _total: "none",
      });
      if (include !== undefined) query.set("include", include);
      const { data } = await call<Row[]>(`${pathOf(app, own)}?${query}`, { signal });
      return data;
    },
  );
  if (target === undefined) return <p class="empty">{say("empty")}</p>;
  const rows = found.data ?? [];
  return (
    <div>
      <div class="tools">
        {target.rights.create !== undefined && (
          <a class="button" href={linkTo([target.path, "!new"], { [foreignKey]: id })}>
            {say("add")}
          </a>
        )}
        <a class="button quiet" href={linkTo([target.path], { [foreignKey]: id })}>
          {plural(target)} →
        </a>
      </div>
      {found.error !== undefined && <Failure error={found.error} onRetry={found.reload} />}
      {found.data === undefined && found.error === undefined && <Loading />}
      {found.data !== undefined && rows.length === 0 && <p class="empty">{say("empty")}</p>}
      {rows.length > 0 && <Table entity={target} rows={rows} columns={columns} />}
    </div>
  );
}
