import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { chooseHost, chooseLogins } from "../../src/cli/init/scaffold.ts";
import { withProgress } from "../../src/cli/shell/output.ts";

/** A terminal with a person who presses these keys at the prompts. */
function person(...keys: string[]) {
  const stdin = new PassThrough();
  const stderr = new PassThrough();
  let text = "";
  stderr.on("data", (chunk: Buffer) => {
    text += chunk;
    const key = keys.shift();
    if (key !== undefined) setImmediate(() => stdin.write(key));
  });
  const terminal = { stdin, stdout: new PassThrough(), stderr, interactive: true, colors: true };
  return { terminal, said: () => stripVTControlCharacters(text) };
}

describe("a person at the terminal", () => {
  it("is asked for the host of the API", async () => {
    const { terminal, said } = person("\u001B[B", "\r");
    expect(await chooseHost(terminal)).toBe("express");
    expect(said()).toContain("What serves the API?");
    expect(said()).toContain("Next.js");
  });

  it("is asked how users log in", async () => {
    const { terminal, said } = person("\u001B[B", "\r");
    expect(await chooseLogins(terminal)).toBe("better-auth");
    expect(said()).toContain("How do users log in?");
  });

  it("may cancel the question", async () => {
    expect(await chooseHost(person("\u0003").terminal)).toBeUndefined();
  });

  it("sees a progress bar, and the result", async () => {
    const { terminal, said } = person();
    const result = await withProgress(terminal, "Counting", async (report) => {
      for (const done of [1, 2, 4]) report(done, 4, `${done} of 4`);
      return "counted";
    });
    expect(result).toBe("counted");
    expect(said()).toContain("4 of 4");
  });

  it("keeps the keyboard during progress, so that Ctrl-C ends the work", async () => {
    const listening = () => [process.listenerCount("SIGINT"), process.stdin.listenerCount("keypress")];
    const before = listening();
    const { terminal, said } = person();
    await withProgress(
      { ...terminal, stderr: Object.assign(terminal.stderr, { columns: 40 }) },
      "Counting",
      async (report) => {
        report(1, 2, "one of two, with a name that is too long for the line");
        expect(listening()).toEqual(before);
      },
    );
    expect(
      said()
        .split(/[\r\n]/)
        .filter((line) => line.includes("Counting"))
        .map(({ length }) => length),
    ).toEqual([39]);
  });
});

describe("a log", () => {
  it("gets a line per tenth of the work, and one for work that fails", async () => {
    const { terminal, said } = person();
    const work = withProgress({ ...terminal, interactive: false }, "Counting", async (report) => {
      for (let done = 1; done <= 100; done++) report(done, 100, `${done} of 100`);
      throw new RangeError("enough");
    });
    await expect(work).rejects.toThrow("enough");
    expect(said().trimEnd().split("\n")).toEqual([
      "Counting",
      ...Array.from({ length: 10 }, (_, i) => `${(i + 1) * 10} of 100`),
    ]);
  });
});
