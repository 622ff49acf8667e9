import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, the longest first. One that begins last would keep a core at work while the others have none. */
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

/** The order of files: the long ones, and then as vitest has them. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = LONG.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? LONG.length : index;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
