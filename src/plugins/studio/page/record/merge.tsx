/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { FieldDescription } from "../../app-document.ts";
import type { Texts } from "../fields/form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { messageOf } from "../state/api.ts";
import { label, say } from "../words.ts";

interface MergeProps {
  readonly fields: readonly FieldDescription[];
  /** The record when the form was opened. */
  readonly before: Texts;
  /** The record with the caller's changes. */
  readonly mine: Texts;
  /** The record as it is stored now. */
  readonly now: Texts;
  readonly onClose: () => void;
  readonly onSave: (merged: Texts) => Promise<void>;
}

/** Two changes of one record side by side: the caller chooses one of two values for each field. */
export function Merge({ fields, before, mine, now, onClose, onSave }: MergeProps): VNode {
  const touched = fields.filter(({ name }) => mine[name] !== before[name] || now[name] !== before[name]);
  const isMine = ({ name }: FieldDescription): boolean => mine[name] !== before[name];
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set(touched.filter(isMine).map(({ name }) => name)));
  const [error, setError] = useState<string | undefined>(undefined);
  const keep = (name: string, isOwn: boolean): void => {
    const next = new Set(kept);
    if (isOwn) next.add(name);
    else next.delete(name);
    setKept(next);
  };
  const save = async (): Promise<void> => {
    setError(undefined);
    const merged = Object.fromEntries(fields.map(({ name }) => [name, (kept.has(name) ? mine : now)[name] ?? ""]));
    await onSave(merged).catch((caught: unknown) => setError(messageOf(caught)));
  };
  return (
    <Dialog title={say("conflict")} isWide onClose={onClose}>
      {error !== undefined && (
        <p class="alert" role="alert">
          {error}
        </p>
      )}
      <p>{say("conflictHint")}</p>
      <table class="diff merge">
        <thead>
          <tr>
            <th>{say("field")}</th>
            <th>{say("base")}</th>
            <th>{say("yours")}</th>
            <th>{say("theirs")}</th>
          </tr>
        </thead>
        <tbody>
          {touched.map((field) => {
            const { name } = field;
            const text = label(field.relation ?? name);
            return (
              <tr key={name}>
                <th scope="row">{text}</th>
                <td data-label={say("base")}>{before[name] || "–"}</td>
                <td data-label={say("yours")} class={kept.has(name) ? "kept" : undefined}>
                  <label class="inline">
                    <input
                      type="radio"
                      name={`keep-${name}`}
                      aria-label={`${text}: ${say("yours")}`}
                      checked={kept.has(name)}
                      onChange={() => keep(name, true)}
                    />
                    {mine[name] || "–"}
                  </label>
                </td>
                <td data-label={say("theirs")} class={kept.has(name) ? undefined : "kept"}>
                  <label class="inline">
                    <input
                      type="radio"
                      name={`keep-${name}`}
                      aria-label={`${text}: ${say("theirs")}`}
                      checked={!kept.has(name)}
                      onChange={() => keep(name, false)}
                    />
                    {now[name] || "–"}
                  </label>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void save()}>
          {say("save")}
        </button>
        <button type="button" onClick={onClose}>
          {say("cancel")}
        </button>
      </div>
    </Dialog>
  );
}
