/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { EntityDescription, FieldDescription } from "../../app-document.ts";
import { changesOf, Form, type Texts, textsOf } from "../fields/form.tsx";
import { Picker } from "../fields/picker.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { ApiError, call } from "../state/api.ts";
import { entityNamed, pathOf, plural, type Row, referredBy, titleOf, useApp } from "../state/app-context.ts";
import { goTo, linkTo, usePlace } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";
import { type LoadedRecord, loadRecord } from "./load-record.ts";
import { Merge } from "./merge.tsx";

/** The fields that the caller may write. The other fields are only shown with the record. */
function writableFields(entity: EntityDescription): readonly FieldDescription[] {
  return entity.fields.filter(({ write }) => write !== undefined);
}

/** A form for a new record. A link can set some of its values. */
export function Create({ entity }: { readonly entity: EntityDescription }): VNode {
  const { app, tell } = useApp();
  const { search } = usePlace();
  const [links, setLinks] = useState<Readonly<Record<string, readonly Row[]>>>({});
  const fields = writableFields(entity);
  const usual = textsOf(fields);
  const initial: Texts = { ...usual, ...Object.fromEntries([...search].filter(([name]) => name in usual)) };
  const create = async (_: unknown, texts: Texts): Promise<void> => {
    const linked = Object.entries(links).filter(([, rows]) => rows.length > 0);
    const json = {
      ...changesOf(fields, texts, usual),
      ...Object.fromEntries(linked.map(([name, rows]) => [name, { connect: rows.map(({ id }) => id) }])),
    };
    const { data } = await call<Row>(pathOf(app, entity), { method: "POST", json });
    tell(say("created"));
    goTo(linkTo([entity.path, String(data.id)]));
  };
  const many = entity.relations.filter(({ type, remote }) => type === "manyToMany" && !remote);
  const name = label(entity.name).toLowerCase();
  return (
    <>
      <p class="crumbs">
        <a href={linkTo([entity.path])}>{plural(entity)}</a>
      </p>
      <h1>{say("create", { name })}</h1>
      <Form
        fields={fields}
        initial={initial}
        targetOf={(field) => referredBy(app, entity, field)}
        submit={say("save")}
        onSubmit={create}
        onCancel={() => history.back()}
      >
        {many.map((relation) => (
          <ManyPicker
            key={relation.name}
            name={relation.name}
            target={entityNamed(app, relation.target)}
            rows={links[relation.name] ?? []}
            onChange={(rows) => setLinks((now) => ({ ...now, [relation.name]: rows }))}
          />
        ))}
      </Form>
    </>
  );
}

interface ManyPickerProps {
  readonly name: string;
  readonly target: EntityDescription | undefined;
  readonly rows: readonly Row[];
  readonly onChange: (rows: readonly Row[]) => void;
}

/** Chooses several related records for a record that is not stored yet. */
function ManyPicker({ name, target, rows, onChange }: ManyPickerProps): VNode | null {
  const { app } = useApp();
  if (target?.rights.list === undefined) return null;
  const add = async (id: string): Promise<void> => {
    if (rows.some((row) => row.id === id)) return;
    const { data } = await call<Row>(pathOf(app, target, "/:id", id));
    onChange([...rows, data]);
  };
  return (
    <div class="field">
      <label for={`many-${name}`}>{label(name)}</label>
      <ul class="chips">
        {rows.map((row) => (
          <li key={String(row.id)}>
            {titleOf(target, row)}
            <button
              type="button"
              class="quiet"
              aria-label={`${say("remove")}: ${titleOf(target, row)}`}
              onClick={() => onChange(rows.filter((one) => one !== row))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <Picker entity={target} id={`many-${name}`} value="" isOneOfMany onChange={(id) => void add(id)} />
    </div>
  );
}

/** A change that was refused because the record has been changed in the meantime. */
interface Conflict {
  readonly texts: Texts;
  readonly now: LoadedRecord;
}

/** A form for a stored record. It sends the changed fields, with the version that was read. */
export function Edit({ entity, id }: { readonly entity: EntityDescription; readonly id: string }): VNode {
  const { app, tell } = useApp();
  const loaded = useRequest(`edit ${entity.name} ${id}`, (signal) => loadRecord(app, entity, id, { signal }));
  const [conflict, setConflict] = useState<Conflict | undefined>(undefined);
  if (loaded.data === undefined)
    return loaded.error === undefined ? (
      <Loading />
    ) : (
      <Failure error={loaded.error} onRetry={loaded.reload} title={plural(entity)} />
    );
  const { record } = loaded.data;
  const fields = writableFields(entity).filter(({ name, read }) => read !== "some" || name in record);
  const initial = textsOf(fields, record);

  const save = async (values: Readonly<Record<string, unknown>>, etag: string | undefined): Promise<void> => {
    const path = `${pathOf(app, entity, "/:id", id)}?select=id`;
    if (Object.keys(values).length > 0)
      await call(path, {
        method: "PATCH",
        json: values,
        ...(etag === undefined ? {} : { headers: { "if-match": etag } }),
      });
    tell(say("saved"));
    goTo(linkTo([entity.path, id]));
  };
  const submit = async (values: Readonly<Record<string, unknown>>, texts: Texts, etag?: string): Promise<void> => {
    try {
      await save(values, etag);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      setConflict({ texts, now: await loadRecord(app, entity, id) });
    }
  };
  return (
    <>
      <p class="crumbs">
        <a href={linkTo([entity.path])}>{plural(entity)}</a>
      </p>
      <h1>
        {say("edit")}: {titleOf(entity, record)}
      </h1>
      <Form
        fields={fields}
        initial={initial}
        targetOf={(field) => referredBy(app, entity, field)}
        submit={say("save")}
        onSubmit={(values, texts) => submit(values, texts, loaded.data?.etag)}
        onCancel={() => goTo(linkTo([entity.path, id]))}
      />
      {conflict !== undefined && (
        <Merge
          fields={fields}
          before={initial}
          mine={conflict.texts}
          now={textsOf(fields, conflict.now.record)}
          onClose={() => setConflict(undefined)}
          onSave={(merged) =>
            submit(changesOf(fields, merged, textsOf(fields, conflict.now.record)), merged, conflict.now.etag)
          }
        />
      )}
    </>
  );
}
