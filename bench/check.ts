import { type Ask, createAsk } from "./ask.ts";
import { readChecks } from "./check-reads.ts";
import { writeChecks } from "./check-writes.ts";
import type { Contender } from "./contenders.ts";
import { dialectOf } from "./dialects/dialects.ts";

/** One promise that a contender makes; fails when it does not keep it. */
export type Check = (ask: Ask) => Promise<void>;

/** Reading comes first: it expects the table as it was filled. */
const checks: Readonly<Record<string, Check>> = { ...readChecks, ...writeChecks };

/**
 * Asks a contender everything that will be measured and the refusals that go with it.
 * @throws Error that names the contender and the check, at the first answer that is not right
 */
export async function checkAnswers(contender: Contender, port: number): Promise<void> {
  const ask = createAsk(port, dialectOf(contender.dialect));
  for (const [name, check] of Object.entries(checks)) {
    const workload = name.split(" ")[0] as keyof NonNullable<Contender["lacks"]>;
    if (contender.lacks?.[workload] !== undefined) continue;
    try {
      await check(ask);
    } catch (error) {
      throw new Error(`${contender.id}: "${name}" does not hold. ${(error as Error).message}`, { cause: error });
    }
  }
}
