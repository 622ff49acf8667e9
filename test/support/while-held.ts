import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";

/** Actions of another PostgreSQL transaction while some work waits. */
export interface Held {
  /** What the other transaction does first, so that the work waits for it. */
  readonly held: string;
  /** What is committed while the work waits. @default nothing */
  readonly meanwhile?: string | undefined;
  /** What the other transaction does while the work waits. @default nothing */
  readonly next?: string | undefined;
  /** How the other transaction ends after that. @default "rollback" */
  readonly end?: "rollback" | "commit" | undefined;
}

/** Starts work while another transaction holds a lock it needs, and ends that transaction once the work waits. */
export async function whileHeld<T>(
  url: string,
  { held, meanwhile = "select 1", next = "select 1", end = "rollback" }: Held,
  begin: () => Promise<T>,
): Promise<T> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query("begin");
  await other.query(held);
  const answer = begin();
  const waiting = `select 1 from pg_locks where not granted and pid in
    (select pid from pg_stat_activity where datname = current_database())`;
  let isAnswered = false;
  const note = () => {
    isAnswered = true;
  };
  answer.then(note, note);
  while (!isAnswered && (await other.query(waiting)).rows.length === 0) await nextTurn();
  const third = new pg.Client({ connectionString: url });
  await third.connect();
  await third.query(meanwhile);
  await third.end();
  await other.query(next);
  await other.query(end);
  await other.end();
  return answer;
}
