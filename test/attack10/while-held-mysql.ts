import { setTimeout as sleep } from "node:timers/promises";
import { connectMysql } from "../support/mysql-server.ts";

export async function whileHeldMysql<T>(
  url: string,
  { held, meanwhile = "select 1", end = "rollback" }: { held: string; meanwhile?: string; end?: string },
  begin: () => Promise<T>,
): Promise<{ answer: T; waited: boolean; blocked: boolean }> {
  const other = await connectMysql(url);
  await other.query("begin");
  await other.query(held);
  const answer = begin();
  let isAnswered = false;
  const note = () => {
    isAnswered = true;
  };
  answer.then(note, note);
  let waited = false;
  const watch = await connectMysql(url);
  for (let n = 0; n < 25 && !isAnswered; n++) {
    const rows = await watch.query("select 1 from information_schema.innodb_lock_waits");
    if (rows.length > 0) {
      waited = true;
      break;
    }
    await sleep(130);
  }
  let blocked = false;
  await watch.query(`set statement max_statement_time=1 for ${meanwhile}`).catch(() => {
    blocked = true;
  });
  await watch.end();
  await other.query(end);
  await other.end();
  return { answer: await answer, waited, blocked };
}
