import type { Readable, Writable } from "node:stream";
import type { Terminal } from "../shell/terminal.ts";
import { HOST_NAMES, HOSTS, type HostName } from "./init-host.ts";

/** Asks what is to serve the API; without a person, Keelson's own server. Undefined when the question was cancelled. */
export async function chooseHost({ interactive, stdin, stderr }: Terminal): Promise<HostName | undefined> {
  if (!interactive) return "node";
  const { isCancel, select } = await import("@clack/prompts");
  const options = HOST_NAMES.map((value) => ({ value, label: HOSTS[value].label }));
  const chosen = await select({
    message: "What serves the API?",
    options,
    input: stdin as Readable,
    output: stderr as Writable,
  });
  return isCancel(chosen) ? undefined : chosen;
}
