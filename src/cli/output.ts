import { styleText } from "node:util";
import { type Table, toTableText } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { type ReportProgress, withProgress } from "./with-progress.ts";

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** How a command speaks. What a script would read goes to standard output, everything else to standard error. */
export interface Output {
  /** A line of the answer. @default an empty one */
  line(text?: string): void;
  /** The answer for scripts. */
  json(value: unknown): void;
  table(table: Table): void;
  /** A remark beside the answer. */
  note(text: string): void;
  error(text: string): void;
  readonly colors: boolean;
  style(style: Style, text: string): string;
  /** Runs long work, and shows how far it is. */
  withProgress<T>(title: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
}

/** Output on a terminal, or as plain lines where there is none. */
export function createOutput(terminal: Terminal): Output {
  const { stdout, stderr, colors } = terminal;
  const style = (name: Style, text: string): string => (colors ? styleText(name, text) : text);
  const write = (stream: NodeJS.WritableStream, text: string): void => void stream.write(`${text}\n`);
  return {
    line: (text = "") => write(stdout, text),
    json: (value) => write(stdout, JSON.stringify(value, null, 2)),
    table: (table) =>
      write(
        stdout,
        toTableText(table, (text) => style("dim", text)),
      ),
    note: (text) => write(stderr, text),
    error: (text) => write(stderr, `${style("red", "error")} ${text}`),
    colors,
    style,
    withProgress: (title, work) => withProgress(terminal, title, work),
  };
}
