const WIDTH = 30;

/** Shows progress: a bar on a terminal, elsewhere a line for every tenth. */
export function showProgress(out: NodeJS.WriteStream): (done: number, total: number) => void {
  let shown = 0;
  return (done, total) => {
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
    const step = out.isTTY ? percent : Math.floor(percent / 10) * 10;
    if (step === shown) return;
    shown = step;
    const counts = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    if (!out.isTTY) {
      out.write(`  ${step} % (${counts})\n`);
      return;
    }
    const filled = Math.round((WIDTH * percent) / 100);
    const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
    out.write(`\r  ${bar} ${String(percent).padStart(3)} %  ${counts}${done === total ? "\n" : ""}`);
  };
}
