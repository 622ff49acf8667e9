import type { AnyEntity } from "../../entity/index.ts";

/** The service `rules.lists`: lists of rules that stand beside those of entities, such as an action's own. */
export interface RuleLists {
  /**
   * Makes a list ready for operations that carry it as `rules`, and reports names that cannot work.
   * @param names any of them passes; the same array is what operations carry
   * @param at where they are written down
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): void;
}
