/** A run of a workflow that was started on this page. */
export interface NotedRun {
  readonly id: string;
  /** Of the action that started it. */
  readonly name: string;
}

const KEY = "studio.runs";
const MOST = 50;

/** The runs of this tab, the last one first. */
export function notedRuns(): readonly NotedRun[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as NotedRun[];
  } catch {
    return [];
  }
}

/** Remembers a run for as long as the tab is open. */
export function noteRun(run: NotedRun): void {
  const others = notedRuns().filter(({ id }) => id !== run.id);
  sessionStorage.setItem(KEY, JSON.stringify([run, ...others].slice(0, MOST)));
}
