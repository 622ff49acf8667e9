import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files, slowest first. If one started last, it would keep one core busy while the others are idle. */
const LONG = [
  "docs/site",
  "browser/docs-page",
  "docs/compile",
  "docs/getting-started",
  "plugins/workflows/dbos-engine",
  "cli/init",
  "browser/react-admin",
  "security/canaries",
  "drivers/prisma/mariadb",
  "types/instantiations",
  "browser/studio/films",
  "browser/studio/data",
  "browser/studio/safety",
  "drivers/sql/fast",
  "cli/serving",
  "examples/films-start",
  "security/protected-fields",
  "package/boundaries",
  "plugins/actions/import-large",
  "types/compilers",
  "security/attacks",
  "queries/held-transactions",
  "plugins/workflows/fencing",
  "security/deliberate-holes",
  "queries/nested-writes",
  "plugins/field-security/password/stored-hashes",
  "plugins/idempotency/databases",
  "faults/action-races",
  "drivers/prisma/statements",
  "corpus/corpus",
  "cli/import/import",
  "queries/batch",
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
