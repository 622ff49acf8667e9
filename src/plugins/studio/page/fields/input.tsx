/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { EntityDescription, FieldDescription } from "../../app-document.ts";
import { label as labelOf, say } from "../words.ts";
import { Picker } from "./picker.tsx";
import { choicesOf, isBrokenJson, widgetOf } from "./widget.ts";

/** Properties of an input. */
export interface InputProps {
  readonly field: FieldDescription;
  /** The entity of the records that the field refers to. */
  readonly target?: EntityDescription | undefined;
  readonly id: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** For inputs without a visible label. */
  readonly label?: string;
  readonly describedBy?: string | undefined;
  readonly isInvalid?: boolean;
  readonly isRequired?: boolean;
}

const TYPES: Readonly<Partial<Record<ReturnType<typeof widgetOf>, "password" | "datetime-local" | "date">>> = {
  password: "password",
  datetime: "datetime-local",
  date: "date",
};

/** The input for a field's kind. */
export function Input(props: InputProps): VNode {
  const { field, target, id, text, onChange, label, describedBy, isInvalid = false, isRequired = false } = props;
  const widget = widgetOf(field);
  const common = {
    id,
    name: field.name,
    "aria-label": label,
    "aria-describedby": describedBy,
    "aria-invalid": isInvalid,
    "aria-required": isRequired,
  };
  if (target !== undefined)
    return <Picker {...{ entity: target, value: text, onChange, id, label, describedBy, isInvalid }} />;
  if (widget === "bool" || widget === "choice")
    return (
      <select {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)}>
        {(field.optional || text === "") && <option value="">{field.optional ? "–" : say("choose")}</option>}
        {widget === "bool" ? (
          <>
            <option value="true">{say("yes")}</option>
            <option value="false">{say("no")}</option>
          </>
        ) : (
          choicesOf(field.schema).map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))
        )}
      </select>
    );
  const onInput = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onChange(event.currentTarget.value);
  if (widget === "long" || widget === "json")
    return (
      <textarea
        {...common}
        class={widget === "json" ? "code" : undefined}
        rows={widget === "json" ? 6 : 4}
        spellcheck={widget !== "json"}
        aria-invalid={isInvalid || isBrokenJson(field, text)}
        value={text}
        onInput={onInput}
      />
    );
  return (
    <input
      {...common}
      type={(TYPES[widget] ?? "text") as "text"} // the other types accept the same properties
      step={widget === "datetime" ? "0.001" : undefined}
      inputMode={widget === "number" || widget === "exact" ? "decimal" : undefined}
      autocomplete={widget === "password" ? "new-password" : "off"}
      value={text}
      onInput={onInput}
    />
  );
}

/** An input with its label, its description and the server's error message. */
export function LabelledInput({
  error,
  ...props
}: Omit<InputProps, "describedBy" | "isInvalid"> & { readonly error?: string | undefined }): VNode {
  const { field, id } = props;
  const hint = [field.description, widgetOf(field) === "datetime" ? "UTC" : undefined].filter(Boolean).join(" · ");
  const described = [hint === "" ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`]
    .filter(Boolean)
    .join(" ");
  return (
    <div class={error === undefined ? "field" : "field wrong"}>
      <label for={id}>
        {labelOf(props.target === undefined ? field.name : (field.relation ?? field.name.replace(/Id$/, "")))}
        {props.isRequired === true && (
          <span aria-hidden="true" class="required">
            *
          </span>
        )}
      </label>
      <Input {...props} describedBy={described === "" ? undefined : described} isInvalid={error !== undefined} />
      {hint !== "" && <small id={`${id}-hint`}>{hint}</small>}
      {error !== undefined && (
        <strong id={`${id}-error`} class="error">
          {error}
        </strong>
      )}
    </div>
  );
}
