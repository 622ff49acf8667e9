import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files, slowest first. If one started last, it would keep one core busy while the others are idle. */
const LONG = [
  "browser/docs-page",
  "docs/compile",
  "drivers/prisma/mariadb",
  "docs/getting-started",
  "security/canaries",
  "queries/nested-writes",
  "plugins/actions/import-large",
  "browser/studio/safety",
  "drivers/sql/fast",
  "plugins/field-security/password/stored-hashes",
  "security/deliberate-holes",
  "examples/films-start",
  "cli/serving",
  "browser/studio/data",
  "security/protected-fields",
  "security/attacks",
  "browser/studio/films",
  "browser/react-admin",
  "package/boundaries",
  "docs/ways",
  "plugins/idempotency/databases",
  "faults/action-races",
  "types/instantiations",
  "plugins/workflows/dbos-engine",
  "queries/held-transactions",
  "drivers/prisma/statements",
  "corpus/corpus",
  "cli/import/import",
  "queries/batch",
  "cli/init",
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
