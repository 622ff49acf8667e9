/** Where a command is run: what it writes to, and who may be there to answer. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether a person is there to be asked, and to watch a bar grow. */
  readonly interactive: boolean;
  readonly colors: boolean;
}

/** The terminal of this process. Colours only for a person, and not where NO_COLOR asks for none (no-color.org). */
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
