/**
 * Part of `npm run lint`: phrases that make readers stop, in comments, messages and pages. Each has a plain form.
 */
import { sourceFiles } from "../test/support/source-files.ts";

const BANNED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bof ours\b/gi, 'say "Keelson", "first-party" or "internal"'],
  [/(?<![\w/-])(?:public-api|security)\.md\b/g, "cite a page of docs/, an ADR, an RFC or the specification"],
  [/\barchitecture\.md \d/g, "cite a page of docs/, an ADR, an RFC or the specification"],
];

const files = [
  ...sourceFiles("src", (path) => path.endsWith(".ts")),
  ...sourceFiles("docs", (path) => path.endsWith(".md") && !path.includes("reference/api/")),
];
const found = files.flatMap(({ path, text }) =>
  text
    .split("\n")
    .flatMap((line, index) =>
      BANNED.filter(([phrase]) => line.search(phrase) !== -1).map(
        ([phrase, instead]) => `${path}:${index + 1}: "${line.match(phrase)?.[0]}": ${instead}`,
      ),
    ),
);
for (const line of found) process.stderr.write(`${line}\n`);
if (found.length > 0) process.exitCode = 1;
