/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { EntityDescription, RelationDescription } from "../../app-document.ts";
import { RecordActions } from "../actions/action-buttons.tsx";
import { FieldValue } from "../fields/value.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { entityNamed, pathOf, plural, type Row, titleOf, useApp } from "../state/app-context.ts";
import { goTo, linkTo, usePlace } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";
import { History } from "./history.tsx";
import { Links } from "./links.tsx";
import { type LoadedRecord, loadRecord } from "./load-record.ts";
import { Related } from "./related.tsx";

/** Name of the entity with the audit entries of all records. */
const AUDIT = "auditEntry";

/** The tab with the history of the record. */
const HISTORY = "!history";

/** One record: its fields, related records, actions and history. */
export function Record({ entity, id }: { readonly entity: EntityDescription; readonly id: string }): VNode {
  const { app, tell } = useApp();
  const { search } = usePlace();
  const isDeleted = search.get("deleted") === "1";
  const loaded = useRequest(`${entity.name} ${id} ${isDeleted}`, (signal) =>
    loadRecord(app, entity, id, { isDeleted, signal }),
  );
  const [isAsking, setAsking] = useState(false);
  if (loaded.data === undefined)
    return loaded.error === undefined ? (
      <Loading />
    ) : (
      <Failure error={loaded.error} onRetry={loaded.reload} title={plural(entity)} />
    );
  const { record } = loaded.data;
  const title = titleOf(entity, record);
  const isMarked = entity.deletedAt !== undefined && (record[entity.deletedAt] ?? null) !== null;
  const remove = async (): Promise<void> => {
    const { etag } = loaded.data as LoadedRecord;
    await call(pathOf(app, entity, "/:id", id), {
      method: "DELETE",
      ...(etag === undefined ? {} : { headers: { "if-match": etag } }),
    });
    tell(say("deleted"));
    goTo(linkTo([entity.path]));
  };
  /** The address of a record changes when it is deleted or restored. */
  const onAction = (): void => {
    loadRecord(app, entity, id, { isDeleted: entity.deletedAt !== undefined }).then(
      (now) => {
        const marked = entity.deletedAt !== undefined && (now.record[entity.deletedAt] ?? null) !== null;
        if (marked === isDeleted) loaded.reload();
        else goTo(linkTo([entity.path, id], marked ? { deleted: "1" } : {}));
      },
      () => goTo(linkTo([entity.path])),
    );
  };
  const relations = entity.relations.filter((relation) => relation.type !== "belongsTo" && !relation.remote);
  const requestedTab = search.get("tab") ?? "";
  const relation = relations.find(({ name }) => name === requestedTab);
  const audit = entityNamed(app, AUDIT);
  const hasHistory = audit?.rights.list !== undefined;
  const tab = relation !== undefined || (requestedTab === HISTORY && hasHistory) ? requestedTab : "";
  return (
    <>
      <p class="crumbs">
        <a href={linkTo([entity.path])}>{plural(entity)}</a>
      </p>
      <div class="top">
        <h1>{title}</h1>
        <div class="tools">
          <RecordActions entity={entity} record={record} isDeleted={isMarked} onDone={onAction} />
          {entity.rights.update !== undefined && !isMarked && (
            <a class="button primary" href={linkTo([entity.path, id, "edit"])}>
              {say("edit")}
            </a>
          )}
          {entity.rights.delete !== undefined && !isMarked && (
            <button type="button" class="danger" onClick={() => setAsking(true)}>
              {say("delete")}
            </button>
          )}
        </div>
      </div>
      {isMarked && <p class="alert">{say("deletedRecord")}</p>}
      {(relations.length > 0 || hasHistory) && (
        <nav class="tabs" aria-label={title}>
          <Tab {...{ entity, id, isDeleted }} name="" text={say("details")} current={tab} />
          {relations.map(({ name }) => (
            <Tab key={name} {...{ entity, id, isDeleted, name }} text={label(name)} current={tab} />
          ))}
          {hasHistory && <Tab {...{ entity, id, isDeleted }} name={HISTORY} text={say("history")} current={tab} />}
        </nav>
      )}
      {tab === "" && <Details entity={entity} loaded={loaded.data} />}
      {tab === HISTORY && audit !== undefined && <History audit={audit} entity={entity} id={id} />}
      {relation !== undefined && <RelationTab {...{ entity, relation, record }} onChange={loaded.reload} />}
      {isAsking && (
        <Confirm
          title={say("deleteRecord", { title })}
          text={say("areYouSure")}
          submit={say("delete")}
          onClose={() => setAsking(false)}
          onConfirm={remove}
        />
      )}
    </>
  );
}

interface TabProps {
  readonly entity: EntityDescription;
  readonly id: string;
  readonly isDeleted: boolean;
  readonly name: string;
  readonly text: string;
  readonly current: string;
}

function Tab({ entity, id, isDeleted, name, text, current }: TabProps): VNode {
  const search = { ...(name === "" ? {} : { tab: name }), ...(isDeleted ? { deleted: "1" } : {}) };
  return (
    <a href={linkTo([entity.path, id], search)} aria-current={name === current ? "page" : undefined}>
      {text}
    </a>
  );
}

interface RelationTabProps {
  readonly entity: EntityDescription;
  readonly relation: RelationDescription;
  readonly record: Row;
  readonly onChange: () => void;
}

function RelationTab(props: RelationTabProps): VNode {
  return props.relation.type === "manyToMany" ? <Links {...props} /> : <Related {...props} />;
}

/** All fields that the caller may read, and the data of other services. */
function Details({ entity, loaded }: { readonly entity: EntityDescription; readonly loaded: LoadedRecord }): VNode {
  const { record, missing } = loaded;
  const remote = entity.relations.filter((relation) => relation.remote);
  return (
    <dl class="details">
      {entity.fields
        .filter(({ read }) => read !== undefined)
        .map((field) => (
          <div key={field.name}>
            <dt>{label(field.relation ?? field.name)}</dt>
            <dd>
              <FieldValue entity={entity} field={field} record={record} />
            </dd>
          </div>
        ))}
      {remote.map(({ name }) => (
        <div key={name}>
          <dt>{label(name)}</dt>
          <dd>
            {missing[name] === undefined ? (
              <code>{JSON.stringify(record[name] ?? null)}</code>
            ) : (
              <span class="tag bad">{say("remoteFailed", { reason: missing[name] })}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
