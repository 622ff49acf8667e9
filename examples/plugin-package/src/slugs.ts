// slugs: generates the slugs of all slug() fields when records are stored, and finds records by them.
import {
  createPluginFactory,
  type Operation,
  type PluginContext,
  QueryParser,
  ValidationFailedError,
} from "keelson/plugin";
import { bySlugRoute } from "./by-slug-route.ts";
import { isPending, PENDING } from "./slug.ts";
import { slugDriver } from "./slug-driver.ts";
import { compileSlugPlans, type SlugPlan, type SlugPlans } from "./slug-plan.ts";
import { slugText } from "./slug-text.ts";

// Hooks: operation:validate (a slug from a caller must be valid). Around the driver: generating slugs.
// Service used: query.

/** Options of {@link slugs}; fields may have their own. */
export interface SlugsOptions {
  /** The text between words. @default "-" */
  readonly separator: "-" | "_";
  /** Maximum length in characters, from 16 to 200. @default 80 */
  readonly maxLength: number;
  /** Whether slugs change with the field that they are made from. @default false */
  readonly follow: boolean;
  /**
   * Converts text to letters for a slug, such as `transliterate` of @sindresorhus/transliterate.
   * @default Latin letters lose their accents, all others stay
   */
  readonly transliterate: (text: string) => string;
  /** Whether there is a `GET /<entities>/by-slug/:slug`. @default true */
  readonly route: boolean;
}

/** The service `slugs`. */
export interface Slugs {
  /** The slug of a text, if it were free. */
  preview(entity: string, text: string): string | undefined;
  /** Generates missing slugs, of records that are older than the field. Returns their number. */
  fill(): Promise<number>;
}

/** Service: {@link Slugs}. */
const SERVICE = "slugs";

/** Records that `fill` processes at once. */
const BATCH = 200;

/**
 * Generates the slugs of all `slug()` fields.
 * @throws ConfigurationError from `keelson()`, for options and fields that cannot work
 * @example keelson({ entities: [post], plugins: [slugs({ follow: true })] })
 */
export const slugs = createPluginFactory<SlugsOptions>((options) => {
  return {
    id: "keelson-plugin-slugs",
    version: "0.1.0",
    requires: ["crud"],
    setup(context) {
      const plans = compileSlugPlans(context.entities, options, context.problem);
      context.provide(SERVICE, () => createService(context, plans));
      context.hooks.on("operation:validate", (operation) => checkGiven(plans.get(operation.entity.name), operation), {
        appliesTo: ({ name }, kind) => plans.has(name) && (kind === "create" || kind === "update"),
      });
      if (options.route === false) return plans;
      const parser = context.use(QueryParser);
      for (const plan of plans.values()) if (!plan.entity.internal) context.routes.add(bySlugRoute(plan, parser));
      return plans;
    },
    wrapDriver: (driver, _context, plans: SlugPlans) => slugDriver(driver, plans),
  };
});

/** A slug that a caller chose is stored unchanged, so it must be valid. */
function checkGiven(plan: SlugPlan | undefined, { data }: Operation): void {
  const given = plan && data[plan.field];
  if (plan === undefined || typeof given !== "string" || isPending(given)) return;
  const right = slugText(given, plan.style);
  if (right === given) return;
  throw new ValidationFailedError([
    { path: [plan.field], code: "slug", message: `must be a slug, such as "${right}"` },
  ]);
}

function createService({ runAs }: PluginContext, plans: SlugPlans): Slugs {
  async function fillOne({ entity, field }: SlugPlan): Promise<number> {
    const where = { OR: [{ [field]: null }, { [field]: { starts: PENDING } }] };
    return runAs("system", async ({ driver }) => {
      let count = 0;
      for (;;) {
        const rows = await driver.findMany(entity, { where, select: ["id"], limit: BATCH });
        for (const { id } of rows) await driver.update(entity, { id }, { [field]: PENDING });
        count += rows.length;
        if (rows.length < BATCH) return count;
      }
    });
  }
  return Object.freeze<Slugs>({
    preview(entity, text) {
      const plan = plans.get(entity);
      return plan === undefined ? undefined : slugText(text, plan.style);
    },
    async fill() {
      let count = 0;
      for (const plan of plans.values()) count += await fillOne(plan);
      return count;
    },
  });
}
