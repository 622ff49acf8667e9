/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { EntityDescription } from "../../app-document.ts";
import { Dialog } from "../parts/dialog.tsx";
import { messageOf, send } from "../state/api.ts";
import { actionWith, pathOf, useApp } from "../state/app-context.ts";
import { say } from "../words.ts";

interface ExportProps {
  readonly entity: EntityDescription;
  readonly conditions: URLSearchParams;
  readonly sort: string;
}

const FORMATS = ["csv", "json", "ndjson"];

/** Exports all records that match the list's conditions to a file. */
export function ExportButton({ entity, conditions, sort }: ExportProps): VNode | null {
  const { app, tell } = useApp();
  const [isOpen, setOpen] = useState(false);
  const [format, setFormat] = useState("csv");
  const [size, setSize] = useState<number | undefined>(undefined);
  const [error, setError] = useState<string | undefined>(undefined);
  const action = actionWith(entity, "export");
  if (action === undefined) return null;

  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    const query = new URLSearchParams(conditions);
    query.set("format", format);
    if (sort !== "") query.set("_sort", sort);
    setError(undefined);
    setSize(0);
    try {
      const response = await send(`${pathOf(app, entity, action.path)}?${query}`);
      const blob = await readAll(response, setSize);
      download(blob, `${entity.path}.${format}`);
      tell(`${say("export")}: ${entity.path}.${format}`);
      setOpen(false);
    } catch (caught) {
      setError(messageOf(caught));
    }
    setSize(undefined);
  };

  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {say("export")}
      </button>
      {isOpen && (
        <Dialog title={say("export")} onClose={() => setOpen(false)}>
          <form class="form" onSubmit={(event) => void run(event)}>
            {error !== undefined && (
              <p class="alert" role="alert">
                {error}
              </p>
            )}
            <label class="field">
              {say("format")}
              <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
                {FORMATS.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
            {size !== undefined && (
              <p role="status">
                <progress aria-label={say("export")} /> {say("exporting", { size: Math.round(size / 1024) })}
              </p>
            )}
            <div class="buttons">
              <button type="submit" class="primary">
                {say("export")}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}

/** Reads the whole body and reports the number of bytes read so far. */
async function readAll(response: Response, onProgress: (bytes: number) => void): Promise<Blob> {
  const parts: BlobPart[] = [];
  const reader = response.body?.getReader();
  let bytes = 0;
  for (;;) {
    const part = await reader?.read();
    if (part?.value === undefined) break;
    parts.push(part.value as BlobPart);
    bytes += part.value.byteLength;
    onProgress(bytes);
  }
  return new Blob(parts, { type: response.headers.get("content-type") ?? "" });
}

/** Starts a download of a file in the browser. */
function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
