import { randomInt } from "node:crypto";
import type { Driver } from "keelson/plugin";
import type { SlugPlan } from "./slug-plan.ts";
import { withSuffix } from "./slug-text.ts";

/** The highest number after a slug. More common titles get a random part instead of a longer search. */
const NUMBERS = 50;
/** Attempts before the slug gets a random part. */
const PATIENCE = 3;

/** The slugs of a list that are taken. */
async function takenOf(driver: Driver, { entity, field }: SlugPlan, wanted: readonly string[]): Promise<Set<unknown>> {
  const rows = await driver.findMany(entity, { where: { [field]: { in: wanted } }, select: [field] });
  return new Set(rows.map((row) => row[field]));
}

/**
 * A free slug for each text, different from those of the other texts in the list: `hello`, `hello-2`, `hello-3`.
 * @param attempt how often another write has taken the slug @default 0
 */
export async function freeSlugs(
  driver: Driver,
  plan: SlugPlan,
  wishes: readonly string[],
  attempt = 0,
): Promise<string[]> {
  const taken = await takenOf(driver, plan, [...new Set(wishes)]);
  const free: string[] = [];
  for (const wish of wishes) {
    const slug = taken.has(wish) ? await numbered(driver, plan, wish, taken, attempt) : wish;
    taken.add(slug);
    free.push(slug);
  }
  return free;
}

async function numbered(
  driver: Driver,
  plan: SlugPlan,
  wish: string,
  taken: ReadonlySet<unknown>,
  attempt: number,
): Promise<string> {
  if (attempt < PATIENCE) {
    const candidates = Array.from({ length: NUMBERS - 1 }, (_, i) => withSuffix(wish, String(i + 2), plan.style));
    const stored = await takenOf(driver, plan, candidates);
    const found = candidates.find((candidate) => !stored.has(candidate) && !taken.has(candidate));
    if (found !== undefined) return found;
  }
  return withSuffix(
    wish,
    randomInt(36 ** 6)
      .toString(36)
      .padStart(6, "0"),
    plan.style,
  );
}
