import { appendFileSync } from "node:fs";

/** A vitest reporter: a line "passed failed" in the file COUNTS for each test file that has ended, so that a run that is cut off counts, too. */
export default class CountTests {
  onTestModuleEnd(module) {
    let [passed, failed] = [0, 0];
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") passed++;
      if (state === "failed") failed++;
    }
    // A file that fails before its first test has no failed test of its own.
    if (failed === 0 && module.state() === "failed") failed++;
    appendFileSync(process.env.COUNTS, `${passed} ${failed}\n`);
  }
}
