/**
 * Part of `npm run lint`: phrases that make readers stop, in comments, messages and pages. Each has a plain form.
 */
import { sourceFiles } from "../test/support/source-files.ts";

const BANNED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:nobody|somebody|whoever)\b/gi, 'say "no caller", "another process", "the code that …"'],
  [/\b(?:is|are) none\b(?! of)/gi, "say what is missing or not valid"],
  [/\bthat one's\b/gi, "name it"],
  [/\bwhom\b/gi, 'say "that", or name the caller'],
  [/\bof ours\b/gi, 'say "Keelson", "first-party" or "internal"'],
  [/(?<![\w/-])(?:public-api|security)\.md\b/g, "cite a page of docs/, an ADR, an RFC or the specification"],
  [/\barchitecture\.md \d/g, "cite a page of docs/, an ADR, an RFC or the specification"],
];

const TITLE = /\b(?:it|describe|test)\b[^"`]*\(\s*(?:"[^"]*"|`[^`]*`)/;
/** Data: reviews of films, ids of users that do not exist, and licences of others. */
const DATA = /(?:import\/reviews\.ts|driver-contract\/write-cases\.ts|LICENSE\.md)$/;
const files = [
  ...["src", "examples", "templates"].flatMap((folder) => sourceFiles(folder, (path) => /\.(?:tsx?|md)$/.test(path))),
  ...sourceFiles("docs", (path) => path.endsWith(".md") && !path.includes("reference/api/")),
  ...sourceFiles(".", (path) => /^(?:\.\/)?[A-Z]+\.md$/.test(path)),
].filter(({ path }) => !DATA.test(path) && !path.includes("node_modules"));
const titles = sourceFiles("test", (path) => /\.tsx?$/.test(path)).map(({ path, text }) => ({
  path,
  text: text.replaceAll(/^.*$/gm, (line) => TITLE.exec(line)?.[0] ?? ""),
}));
const found = [...files, ...titles].flatMap(({ path, text }) =>
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
