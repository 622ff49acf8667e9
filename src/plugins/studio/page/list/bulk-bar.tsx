/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { ActionDescription, EntityDescription } from "../../app-document.ts";
import { LabelledInput } from "../fields/input.tsx";
import { toWire } from "../fields/widget.ts";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { call, messageOf } from "../state/api.ts";
import { actionWith, fieldOf, pathOf, referredBy, useApp } from "../state/app-context.ts";
import { label, say } from "../words.ts";

interface BulkBarProps {
  readonly entity: EntityDescription;
  readonly ids: readonly string[];
  readonly isDeleted: boolean;
  readonly onDone: () => void;
  readonly onClear: () => void;
}

/** The actions for the selected records. */
export function BulkBar({ entity, ids, isDeleted, onDone, onClear }: BulkBarProps): VNode {
  const { app, tell } = useApp();
  const [open, setOpen] = useState<"update" | "delete" | undefined>(undefined);
  const [progress, setProgress] = useState<string | undefined>(undefined);
  const [error, setError] = useState<string | undefined>(undefined);
  const bulkUpdate = actionWith(entity, "bulkUpdate");
  const bulkDelete = actionWith(entity, "bulkDelete");
  const single = entity.actions.filter((action) => action.onRecord && isForMany(action, isDeleted));

  /** Sends one request for each record, because the action takes one record. */
  const runEach = async (action: ActionDescription): Promise<void> => {
    setError(undefined);
    try {
      for (const [index, id] of ids.entries()) {
        setProgress(`${label(action.name)}: ${index} / ${ids.length}`);
        await call(pathOf(app, entity, action.path, id), { method: action.method });
      }
      tell(say("done", { name: label(action.name) }));
      onDone();
    } catch (caught) {
      setError(messageOf(caught));
    }
    setProgress(undefined);
  };
  const remove = async (): Promise<void> => {
    if (bulkDelete === undefined)
      for (const id of ids) await call(pathOf(app, entity, "/:id", id), { method: "DELETE" });
    else await call(pathOf(app, entity, bulkDelete.path), { method: bulkDelete.method, json: { ids } });
    setOpen(undefined);
    tell(say("deleted"));
    onDone();
  };
  return (
    <div class="bulk" role="toolbar" aria-label={say("actions")}>
      <strong>{say("selected", { count: ids.length })}</strong>
      {bulkUpdate !== undefined && !isDeleted && (
        <button type="button" onClick={() => setOpen("update")}>
          {say("changeField")}
        </button>
      )}
      {single.map((action) => (
        <button key={action.name} type="button" onClick={() => void runEach(action)}>
          {label(action.name)}
        </button>
      ))}
      {(entity.rights.delete !== undefined || bulkDelete !== undefined) && !isDeleted && (
        <button type="button" class="danger" onClick={() => setOpen("delete")}>
          {say("delete")}
        </button>
      )}
      <button type="button" class="quiet" onClick={onClear}>
        {say("clear")}
      </button>
      {progress !== undefined && <span role="status">{progress}</span>}
      {error !== undefined && (
        <span class="error" role="alert">
          {error}
        </span>
      )}
      {open === "delete" && (
        <Confirm
          title={say("deleteRecords", { count: ids.length })}
          text={say("areYouSure")}
          submit={say("delete")}
          onClose={() => setOpen(undefined)}
          onConfirm={remove}
        />
      )}
      {open === "update" && bulkUpdate !== undefined && (
        <ChangeField entity={entity} action={bulkUpdate} ids={ids} onClose={() => setOpen(undefined)} onDone={onDone} />
      )}
    </div>
  );
}

/** Whether an action needs no input besides the record. */
function isForMany({ role, input = [], query, runsAsync }: ActionDescription, isDeleted: boolean): boolean {
  if (role === "restore") return isDeleted;
  if (isDeleted || runsAsync || query.some(({ optional }) => !optional)) return false;
  return role === "softDelete" || (role === "action" && input.length === 0);
}

interface ChangeFieldProps {
  readonly entity: EntityDescription;
  readonly action: ActionDescription;
  readonly ids: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Sets one field to the same value in several records. */
function ChangeField({ entity, action, ids, onClose, onDone }: ChangeFieldProps): VNode | null {
  const { app, tell } = useApp();
  const id = useId();
  const fields = entity.fields.filter(({ write, isPassword }) => write !== undefined && isPassword !== true);
  const [name, setName] = useState(fields[0]?.name ?? "");
  const [text, setText] = useState("");
  const [error, setError] = useState<string | undefined>(undefined);
  const field = fieldOf(entity, name);
  if (field === undefined) return null;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const json = { ids, data: { [name]: toWire(field, text) } };
      const { data } = await call<{ readonly count: number }>(pathOf(app, entity, action.path), {
        method: action.method,
        json,
      });
      tell(say("changed", { count: data.count }));
      onClose();
      onDone();
    } catch (caught) {
      setError(messageOf(caught));
    }
  };
  return (
    <Dialog title={say("changeField")} onClose={onClose}>
      <form class="form" noValidate onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for={`${id}-name`}>{say("field")}</label>
          <select
            id={`${id}-name`}
            value={name}
            onChange={(event) => {
              setName(event.currentTarget.value);
              setText("");
            }}
          >
            {fields.map((one) => (
              <option key={one.name} value={one.name}>
                {label(one.relation ?? one.name)}
              </option>
            ))}
          </select>
        </div>
        <LabelledInput
          id={`${id}-value`}
          field={field}
          target={referredBy(app, entity, field)}
          text={text}
          onChange={setText}
          error={error}
        />
        <div class="buttons">
          <button type="submit" class="primary">
            {say("apply")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
