import type { ByteHolder } from "../../kernel/index.ts";

/** Answers up to this size are not counted among the large ones that are under way at once. */
const LARGE = 1_048_576;

/** How many bytes of long values a page, or all the records included in it, may still have. */
export class ByteBudget {
  /** Whether rows were left out because they did not fit. */
  isCut = false;
  #left: number;
  #spent = 0;
  #held = 0;
  readonly #holder: ByteHolder | undefined;

  /**
   * @param most bytes in all
   * @param holder hears of what is spent once that is large @default it is counted nowhere
   */
  constructor(most: number, holder?: ByteHolder) {
    this.#left = most;
    this.#holder = holder;
  }

  get left(): number {
    return this.#left;
  }

  /**
   * How many of some rows, in their order, may be read: those that fit, and at least one, so that a list can always go
   * on. Their bytes are spent.
   * @param sizes bytes of each row
   * @throws UnavailableError when too many large answers are under way already
   */
  take(sizes: readonly number[]): number {
    let count = 0;
    let bytes = 0;
    for (const size of sizes) {
      if (count > 0 && bytes + size > this.#left) break;
      bytes += size;
      count++;
    }
    if (count < sizes.length) this.isCut = true;
    this.#left = Math.max(0, this.#left - bytes);
    this.#spent += bytes;
    if (this.#holder?.hold !== undefined && this.#spent > LARGE) {
      this.#holder.hold(this.#spent - this.#held);
      this.#held = this.#spent;
    }
    return count;
  }
}
