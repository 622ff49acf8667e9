/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ActionDescription, AppDocument, EntityDescription, FieldDescription } from "../../app-document.ts";
import { Form, textsOf } from "../fields/form.tsx";
import { toWire } from "../fields/widget.ts";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { call } from "../state/api.ts";
import { entityNamed, pathOf, type Row, referredBy, titleOf, useApp } from "../state/app-context.ts";
import { label, say } from "../words.ts";
import { RunReport } from "./run-report.tsx";

interface RecordActionsProps {
  readonly entity: EntityDescription;
  readonly record: Row;
  readonly isDeleted: boolean;
  readonly onDone: () => void;
}

/** The actions about one record, as buttons. */
export function RecordActions({ entity, record, isDeleted, onDone }: RecordActionsProps): VNode {
  const offered = entity.actions.filter(
    ({ onRecord, role }) =>
      onRecord && (role === "restore" ? isDeleted : !isDeleted && (role === "action" || role === "softDelete")),
  );
  return (
    <>
      {offered.map((action) => (
        <ActionButton key={action.name} {...{ entity, action, record, onDone }} />
      ))}
    </>
  );
}

/** The actions about the whole collection. */
export function CollectionActions({
  entity,
  onDone,
}: {
  readonly entity: EntityDescription;
  readonly onDone: () => void;
}): VNode {
  const offered = entity.actions.filter(({ onRecord, role }) => !onRecord && role === "action");
  return (
    <>
      {offered.map((action) => (
        <ActionButton key={action.name} {...{ entity, action, onDone }} />
      ))}
    </>
  );
}

interface ActionButtonProps {
  readonly entity: EntityDescription;
  readonly action: ActionDescription;
  readonly record?: Row;
  readonly onDone: () => void;
}

/** The button of an action. It opens a form when the action has fields, asks before a DELETE, and else runs at once. */
function ActionButton({ entity, action, record, onDone }: ActionButtonProps): VNode {
  const { app, tell } = useApp();
  const [open, setOpen] = useState<"form" | "confirm" | undefined>(undefined);
  const [result, setResult] = useState<unknown>(undefined);
  const [runId, setRunId] = useState<string | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const fields = [...action.query, ...(action.input ?? [])];
  const title = label(action.name);

  const run = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    const { data, status } = await callAction(app, entity, action, String(record?.id ?? ""), values);
    const begun = (data as { readonly runId?: string } | undefined)?.runId;
    if (status === 202 && begun !== undefined) setRunId(begun);
    else if (isWorthShowing(data)) setResult(data);
    tell(say("done", { name: title }));
    setOpen(undefined);
    onDone();
  };
  const begin = (): void => {
    setError(undefined);
    if (fields.length > 0) setOpen("form");
    else if (action.method === "DELETE") setOpen("confirm");
    else run({}).catch(setError);
  };
  const close = (): void => {
    setResult(undefined);
    setRunId(undefined);
    setError(undefined);
  };
  return (
    <>
      <button type="button" title={action.summary} onClick={begin}>
        {title}
      </button>
      {open === "form" && (
        <Dialog title={title} onClose={() => setOpen(undefined)}>
          {action.summary !== undefined && <p>{action.summary}</p>}
          <Form
            fields={fields}
            initial={textsOf(fields)}
            targetOf={(field) => targetOf(app, entity, field)}
            submit={say("run")}
            onSubmit={run}
            onCancel={() => setOpen(undefined)}
          />
        </Dialog>
      )}
      {open === "confirm" && (
        <Confirm
          title={record === undefined ? title : `${title}: ${titleOf(entity, record)}`}
          submit={title}
          onClose={() => setOpen(undefined)}
          onConfirm={() => run({})}
        />
      )}
      {(result !== undefined || error !== undefined || runId !== undefined) && (
        <Dialog title={title} onClose={close}>
          {error !== undefined && (
            <p role="alert" class="alert">
              {error instanceof Error ? error.message : String(error)}
            </p>
          )}
          {result !== undefined && <pre class="result">{JSON.stringify(result, null, 2)}</pre>}
          {runId !== undefined && <RunReport id={runId} onEnd={onDone} />}
        </Dialog>
      )}
    </>
  );
}

/** Sends an action's request: query parameters in the address, body fields as JSON. */
function callAction(
  app: AppDocument,
  entity: EntityDescription,
  action: ActionDescription,
  id: string,
  values: Readonly<Record<string, unknown>>,
) {
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (!action.query.some((field) => field.name === name)) body[name] = value;
    else if (value !== null) query.set(name, String(value));
  }
  const path = pathOf(app, entity, action.path, id);
  const follows = action.runsAsync && app.workflowRuns !== undefined && app.caller.kind === "user";
  return call(query.size === 0 ? path : `${path}?${query}`, {
    method: action.method,
    ...(action.input === undefined ? {} : { json: body }),
    ...(follows ? { headers: { prefer: "respond-async" } } : {}),
  });
}

/** The entity that an action's field refers to: by its relation, or by its name (`filmId` refers to `film`). */
export function targetOf(app: AppDocument, entity: EntityDescription, field: FieldDescription) {
  if (field.relation !== undefined) return referredBy(app, entity, field);
  const target = entityNamed(app, /^(\w+)Id$/.exec(field.name)?.[1]);
  return target?.rights.list === undefined || toWire(field, "1") === 1 ? undefined : target;
}

/** Whether an answer contains more than a plain `success`. */
function isWorthShowing(data: unknown): boolean {
  if (data === undefined || data === null) return false;
  return !(typeof data === "object" && Object.keys(data).join() === "success");
}
