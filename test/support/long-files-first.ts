import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, the longest first. One that begins last would keep a core at work while the others have none. */
const LONG = [
  "docs/compile",
  "docs/site",
  "examples/films-start",
  "security/attacks",
  "security/canaries",
  "cli/init",
  "drivers/prisma/mariadb",
  "types/instantiations",
  "adapters/next/contract",
  "browser/react-admin",
  "security/protected-fields",
  "plugins/workflows/fencing",
  "examples/films",
  "drivers/prisma/generated-client",
  "plugins/workflows/dbos-engine",
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
