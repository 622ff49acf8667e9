/** `npm run docs:ways`: writes the ways of requests into docs/architecture.md, as they are. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../test/support/source-files.ts";
import { PAGE, walk, withWays } from "../test/support/ways.ts";

const file = join(repositoryRoot, PAGE);
writeFileSync(file, withWays(readFileSync(file, "utf8"), await walk()));
process.exit(0);
