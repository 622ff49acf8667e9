import { styleText } from "node:util";

/** Reports progress. @param text the current step, shown on a separate line */
type ReportProgress = (done: number, total: number, text: string) => void;

interface Progress {
  readonly report: ReportProgress;
  end(text: string): void;
}

/** Runs long work and shows its progress: a bar on a terminal, and a line per tenth of the work in a log. */
export async function withProgress<T>(
  terminal: Terminal,
  title: string,
  work: (report: ReportProgress) => Promise<T>,
): Promise<T> {
  const { report, end } = terminal.interactive ? bar(terminal, title) : lines(terminal, title);
  let said = title;
  try {
    return await work((done, total, text) => {
      said = text;
      report(done, total, text);
    });
  } finally {
    end(said);
  }
}

/** The length of a full bar in characters. */
const BAR = 24;

/**
 * Shows progress in a line that is overwritten. Not a library's prompt, which would capture the keyboard, including
 * Ctrl-C.
 */
function bar({ stderr }: Terminal, title: string): Progress {
  // Some terminals do not report their width.
  const columns = (stderr as Partial<NodeJS.WriteStream>).columns || 80;
  const overwrite = (text: string): void => void stderr.write(`\r\u001B[2K${text}`);
  return {
    report(done, total, text) {
      const filled = Math.round((BAR * done) / Math.max(1, total));
      const drawn = `${"█".repeat(filled)}${"░".repeat(Math.max(0, BAR - filled))}`;
      // A wrapped line could not be overwritten.
      overwrite(`${drawn}  ${title}: ${text}`.slice(0, Math.max(BAR, columns - 1)));
    },
    end: (text) => overwrite(`${text}\n`),
  };
}

function lines({ stderr }: Terminal, title: string): Progress {
  let tenths = 0;
  stderr.write(`${title}\n`);
  return {
    report(done, total, text) {
      const reached = total === 0 ? 10 : Math.floor((10 * done) / total);
      if (reached <= tenths) return;
      tenths = reached;
      stderr.write(`${text}\n`);
    },
    end: () => undefined,
  };
}

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** The output of a command. Results are written to standard output, everything else to standard error. */
export interface Output {
  /** Writes a line of the result. @default an empty line */
  line(text?: string): void;
  /** Writes the result as JSON. */
  json(value: unknown): void;
  table(table: Table): void;
  /** Writes a remark to standard error. */
  note(text: string): void;
  error(text: string): void;
  readonly colors: boolean;
  style(style: Style, text: string): string;
  /** Runs long work, and shows its progress. */
  withProgress<T>(title: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
}

/** Makes the output for a terminal, or plain lines without one. */
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

/** Rows under headings. */
export interface Table {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Formats a table with aligned columns, without trailing spaces. */
function toTableText({ headings, rows }: Table, styleHeading: (text: string) => string): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join("  ")
      .trimEnd();
  return [styleHeading(line(headings)), ...rows.map(line)].join("\n");
}

/** The environment of a command: its streams, and whether it can prompt. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether the terminal is interactive. */
  readonly interactive: boolean;
  readonly colors: boolean;
}

/** The terminal of this process. Colors are only used when it is interactive, and not with NO_COLOR (no-color.org). */
export function processTerminal({ stdin, stdout, stderr, env }: NodeJS.Process = process): Terminal {
  const isTerminal = stdout.isTTY === true;
  return {
    stdin,
    stdout,
    stderr,
    interactive: isTerminal && stdin.isTTY === true && !env.CI,
    colors: isTerminal && !env.NO_COLOR && env.TERM !== "dumb",
  };
}
