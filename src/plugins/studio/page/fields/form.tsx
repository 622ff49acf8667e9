/** @jsxImportSource preact */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { EntityDescription, FieldDescription } from "../../app-document.ts";
import { ApiError, messageOf } from "../state/api.ts";
import { say } from "../words.ts";
import { LabelledInput } from "./input.tsx";
import { isBrokenJson, toText, toWire } from "./widget.ts";

/** The texts in the inputs of a form, by field. */
export type Texts = Readonly<Record<string, string>>;

/** The texts for a record's fields; without a record, of the defaults. */
export function textsOf(fields: readonly FieldDescription[], record?: Readonly<Record<string, unknown>>): Texts {
  return Object.fromEntries(
    fields.map((field) => [field.name, toText(field, record === undefined ? field.default : record[field.name])]),
  );
}

/** The values of the fields whose text has changed. */
export function changesOf(fields: readonly FieldDescription[], texts: Texts, before: Texts): Record<string, unknown> {
  const changed = fields.filter(({ name }) => (texts[name] ?? "") !== (before[name] ?? ""));
  return Object.fromEntries(changed.map((field) => [field.name, toWire(field, texts[field.name] ?? "")]));
}

interface FormProps {
  readonly fields: readonly FieldDescription[];
  /** The entity that a field refers to. */
  readonly targetOf: (field: FieldDescription) => EntityDescription | undefined;
  readonly initial: Texts;
  readonly submit: string;
  /** Sends the values of the changed fields. The messages of a thrown error are shown at the fields. */
  readonly onSubmit: (values: Readonly<Record<string, unknown>>, texts: Texts) => Promise<void>;
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}

/** A form of fields. It checks only that JSON can be parsed; all other limits are checked by the API. */
export function Form({ fields, targetOf, initial, submit, onSubmit, onCancel, children }: FormProps): VNode {
  const [texts, setTexts] = useState(initial);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const prefix = useId();
  const errors = errorsOf(error);
  const known = fields.filter(
    ({ name, relation }) => errors[name] !== undefined || errors[relation ?? name] !== undefined,
  );
  const rest = Object.entries(errors).filter(
    ([name]) => !known.some((field) => field.name === name || field.relation === name),
  );

  useEffect(() => {
    if (error !== undefined) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const broken = fields.filter((field) => isBrokenJson(field, texts[field.name] ?? ""));
    if (broken.length > 0) {
      setError(new ApiError(400, { errors: Object.fromEntries(broken.map(({ name }) => [name, "JSON?"])) }));
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(changesOf(fields, texts, initial), texts);
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form ref={form} class="form" noValidate onSubmit={(event) => void send(event)}>
      {error !== undefined && (
        <div class="alert" role="alert">
          <p>{known.length > 0 ? say("errors", { count: known.length }) : messageOf(error)}</p>
          {known.length > 0 &&
            rest.map(([name, message]) => <p key={name}>{name === "_" ? message : `${name}: ${message}`}</p>)}
        </div>
      )}
      <div class="fields">
        {fields.map((field) => (
          <LabelledInput
            key={field.name}
            id={`${prefix}-${field.name}`}
            field={field}
            target={targetOf(field)}
            text={texts[field.name] ?? ""}
            isRequired={!field.optional}
            error={errors[field.name] ?? (field.relation === undefined ? undefined : errors[field.relation])}
            onChange={(text) => setTexts((now) => ({ ...now, [field.name]: text }))}
          />
        ))}
      </div>
      {children}
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {submit}
        </button>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            {say("cancel")}
          </button>
        )}
      </div>
    </form>
  );
}

/** Messages by field. A message about a nested value is shown at the field that contains it. */
function errorsOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {};
  const entries = Object.entries(error.errors).map(([path, message]) => [path.split(".")[0] ?? path, message] as const);
  return Object.fromEntries(entries.reverse());
}
