import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files, slowest first. If one started last, it would keep one core busy while the others are idle. */
const LONG = [
  "browser/docs-page",
  "docs/getting-started",
  "docs/site",
  "plugins/actions/import-large",
  "browser/react-admin",
  "plugins/workflows/dbos-engine",
  "security/canaries",
  "security/attacks",
  "browser/studio/films",
  "browser/studio/safety",
  "drivers/prisma/mariadb",
  "drivers/sql/fast",
  "docs/compile",
  "browser/studio/data",
  "types/compilers",
  "cli/serving",
  "package/boundaries",
  "security/protected-fields",
  "cli/init",
  "queries/nested-writes",
  "plugins/field-security/password/stored-hashes",
  "security/deliberate-holes",
  "examples/films-start",
  "plugins/idempotency/databases",
  "faults/action-races",
  "types/instantiations",
  "queries/held-transactions",
  "drivers/prisma/statements",
  "corpus/corpus",
  "cli/import/import",
  "queries/batch",
  "plugins/workflows/fencing",
].map((name) => `/test/${name}.test.ts`);

/** The order of files: the slow ones first, the rest in vitest's order. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = LONG.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? LONG.length : index;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
