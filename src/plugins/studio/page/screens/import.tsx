/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { EntityDescription } from "../../app-document.ts";
import { Failure } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { actionWith, pathOf, plural, useApp } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { label, say } from "../words.ts";
import { type Source, typeOf } from "./import-source.ts";

/** Result of an import. */
interface Result {
  readonly created: number;
  readonly updated: number;
  readonly failed: readonly { readonly row: number; readonly errors: Readonly<Record<string, string>> }[];
  readonly failedCount?: number;
}

/** Imports rows from a file or a text. They can be checked first: the API's messages are shown for each row. */
export function ImportScreen({ entity }: { readonly entity: EntityDescription }): VNode {
  const { app, tell } = useApp();
  const id = useId();
  const [source, setSource] = useState<Source | undefined>(undefined);
  const [result, setResult] = useState<{ readonly isDry: boolean; readonly data: Result } | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const action = actionWith(entity, "import");
  const writable = entity.fields.filter(({ write }) => write !== undefined).map(({ name }) => name);

  const run = async (isDry: boolean): Promise<void> => {
    if (source === undefined || action === undefined || isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      const body = { type: typeOf(source), content: source.content };
      const { data } = await call<Result>(`${pathOf(app, entity, action.path)}?dryRun=${isDry}`, {
        method: action.method,
        body,
      });
      setResult({ isDry, data });
      if (!isDry) tell(say("done", { name: say("import") }));
    } catch (caught) {
      setResult(undefined);
      setError(caught);
    }
    setBusy(false);
  };
  const choose = (next: Source | undefined): void => {
    setSource(next);
    setResult(undefined);
  };
  const counts = result && {
    created: result.data.created,
    updated: result.data.updated,
    failed: result.data.failedCount ?? result.data.failed.length,
  };
  return (
    <>
      <p class="crumbs">
        <a href={linkTo([entity.path])}>{plural(entity)}</a>
      </p>
      <h1>
        {say("import")}: {plural(entity)}
      </h1>
      <p>{say("importHint")}</p>
      <p>
        <code>{writable.join(", ")}</code>
      </p>
      <div class="form">
        <div class="field">
          <label for={`${id}-file`}>{say("file")}</label>
          <input
            id={`${id}-file`}
            type="file"
            accept=".csv,.json,.ndjson,.jsonl"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              choose(file && { name: file.name, content: file });
            }}
          />
        </div>
        <div class="field">
          <label for={`${id}-text`}>{say("paste")}</label>
          <textarea
            id={`${id}-text`}
            class="code"
            rows={8}
            spellcheck={false}
            onInput={(event) => {
              const { value } = event.currentTarget;
              choose(value.trim() === "" ? undefined : { name: "", content: value });
            }}
          />
        </div>
        <div class="buttons">
          <button type="button" disabled={source === undefined} onClick={() => void run(true)}>
            {say("check")}
          </button>
          <button type="button" class="primary" disabled={result?.isDry !== true} onClick={() => void run(false)}>
            {say("import")}
          </button>
          {isBusy && <progress aria-label={say("import")} />}
        </div>
      </div>
      {error !== undefined && <Failure error={error} />}
      {result !== undefined && counts !== undefined && (
        <p role="status">{say(result.isDry ? "checked" : "imported", counts)}</p>
      )}
      {result !== undefined && result.data.failed.length > 0 && (
        <table class="diff" aria-label={say("refused")}>
          <thead>
            <tr>
              <th>{say("row")}</th>
              <th>{label("errors")}</th>
            </tr>
          </thead>
          <tbody>
            {result.data.failed.map(({ row, errors }) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                <td>
                  {Object.entries(errors).map(([name, message]) => (
                    <div key={name}>
                      <strong>{name}</strong> {message}
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
